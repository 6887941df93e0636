/** A real identity provider in this process, at which anyone can sign in with any claims. */
import { generateKeyPairSync } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import Provider from "oidc-provider"
import { browserAt } from "./boardService.ts"

export const clientId = "board"
export const clientSecret = "client-secret-of-the-board"

export type Claims = Readonly<Record<string, unknown>>

const key = () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  return { ...privateKey.export({ format: "jwk" }), kid: "one", use: "sig", alg: "RS256" }
}

const configurationFor = (redirectUri: string, claimsOf: () => Claims) => ({
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      response_types: ["code"],
      grant_types: ["authorization_code"]
    }
  ],
  claims: {
    openid: ["sub", "data_import_role", "data_import_organisations"],
    profile: ["name", "preferred_username"],
    email: ["email"]
  },
  conformIdTokenClaims: false,
  cookies: { keys: ["cookie-key"] },
  features: { devInteractions: { enabled: false } },
  findAccount: (_: unknown, sub: string) => ({
    accountId: sub,
    claims: () => ({ sub, ...claimsOf() })
  }),
  interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
  jwks: { keys: [key()] },
  ttl: { AccessToken: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 }
})

const interact = async (
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  refuses: boolean
) => {
  const { params } = await provider.interactionDetails(request, response)
  const accountId = "person-1"
  const grant = new provider.Grant({ accountId, clientId: params.client_id })
  grant.addOIDCScope(params.scope)
  const result = refuses
    ? { error: "access_denied" }
    : { login: { accountId }, consent: { grantId: await grant.save() } }
  await provider.interactionFinished(request, response, result)
}

const listening = (server: Server) =>
  Effect.callback<number>((resume) => {
    server.listen(0, "127.0.0.1", () =>
      resume(Effect.succeed((server.address() as AddressInfo).port))
    )
  })

/** The provider until the scope ends, for a client with this address. */
export const identityProvider = Effect.fnUntraced(function* (redirectUri: string) {
  const person = { claims: {} as Claims, refuses: false }
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => createServer((request, response) => handle(request, response))),
    (made) => Effect.sync(() => made.close().closeAllConnections())
  )
  const issuer = `http://127.0.0.1:${yield* listening(server)}`
  const provider = new Provider(
    issuer,
    configurationFor(redirectUri, () => person.claims)
  )
  const callback = provider.callback()
  handle = (request, response) => {
    if (request.url?.startsWith("/interaction/") === true) {
      void interact(provider, request, response, person.refuses)
    } else callback(request, response)
  }

  /** Signs in at this address; returns the address that the provider redirects to. */
  const signIn = Effect.fnUntraced(function* (address: string) {
    const browser = browserAt(issuer)
    let location = new URL(address)
    for (let step = 0; step < 8 && location.origin === issuer; step++) {
      const { headers } = yield* browser.ask({ path: `${location.pathname}${location.search}` })
      location = new URL(headers.location ?? "about:blank", issuer)
    }
    return location
  })

  return { issuer, person, server, signIn }
})
