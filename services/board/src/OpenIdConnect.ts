/**
 * Signing in at the organisation's own identity provider: the authorization code flow of OpenID
 * Connect with PKCE, state and nonce. The state of an unfinished sign-in is in a cookie of its
 * browser. So any instance can finish it, and no other browser can.
 * Source: docs/contract/board.md#openid-connect.
 */
import * as Client from "openid-client"
import { Data, Effect, Redacted } from "effect"
import type { BoardUser } from "@data-import/domain/access/BoardUser"
import { userOf } from "./Claims.ts"
import type { ProviderSettings } from "./BoardSettings.ts"

/** The provider does not answer. */
export class ProviderAway extends Data.TaggedError("ProviderAway")<{}> {}

/** The provider refuses, or its answer fails a check. */
export class SignInRefused extends Data.TaggedError("SignInRefused")<{}> {}

/** The provider knows the user, who has no role here. */
export class WithoutRole extends Data.TaggedError("WithoutRole")<{}> {}

/** An unfinished sign-in. All members consist of letters, digits, `-` and `_`. */
interface Pending {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface OpenIdConnect {
  /** Where to redirect the browser, and the cookie that it must send back. */
  readonly begin: Effect.Effect<
    { readonly location: string; readonly pending: string },
    ProviderAway
  >
  /** `query` is that of the address to which the provider has redirected the browser. */
  readonly finish: (
    query: string,
    pending: string
  ) => Effect.Effect<BoardUser, ProviderAway | SignInRefused | WithoutRole>
}

const timeoutSeconds = 5

export const callbackPath = "/board/sign-in/callback/"

const written = ({ nonce, state, verifier }: Pending): string => [state, nonce, verifier].join(".")

const read = (text: string): Pending | null => {
  const [state, nonce, verifier, ...rest] = text.split(".")
  return state && nonce && verifier && rest.length === 0 ? { state, nonce, verifier } : null
}

/** Only the code is logged: the message may hold text of the provider or the browser. */
const codeOf = (error: unknown): string => {
  if (error instanceof Client.AuthorizationResponseError) return "authorization_response_error"
  if (error instanceof Client.ResponseBodyError) return "response_body_error"
  if (error instanceof Client.ClientError) return error.code ?? "client_error"
  return error instanceof Error ? error.name : "unknown"
}

const isAway = (error: unknown): boolean =>
  (error instanceof TypeError && error.cause !== undefined) ||
  ["OAUTH_TIMEOUT", "OAUTH_ABORT"].includes(codeOf(error))

const logged = (what: string, error: unknown) =>
  Effect.logWarning(what).pipe(Effect.annotateLogs({ code: codeOf(error) }))

class Failed extends Data.TaggedError("Failed")<{ readonly cause: unknown }> {}

const tried = <A>(run: () => Promise<A>): Effect.Effect<A, Failed> =>
  Effect.tryPromise({ try: run, catch: (cause) => new Failed({ cause }) })

const isPlain = (issuer: URL): boolean => issuer.protocol === "http:"

const discover = ({ clientId, clientSecret, issuer }: ProviderSettings) =>
  tried(() =>
    Client.discovery(
      issuer,
      clientId,
      undefined,
      clientSecret === null
        ? Client.None()
        : Client.ClientSecretBasic(Redacted.value(clientSecret)),
      {
        timeout: timeoutSeconds,
        // Settings allow plain http on this machine only.
        execute: isPlain(issuer) ? [Client.allowInsecureRequests] : []
      }
    )
  )

/** The provider is discovered at the first sign-in, so the service starts without it. */
export const make = (settings: ProviderSettings, publicUrl: URL): OpenIdConnect => {
  let known: Client.Configuration | undefined
  const redirectUri = new URL(callbackPath, publicUrl)

  const provider = Effect.gen(function* () {
    known ??= yield* discover(settings)
    return known
  }).pipe(
    Effect.catchTag("Failed", ({ cause }) =>
      Effect.andThen(logged("the identity provider was not found", cause), new ProviderAway())
    )
  )

  const begin = Effect.gen(function* () {
    const configuration = yield* provider
    const pending: Pending = {
      state: Client.randomState(),
      nonce: Client.randomNonce(),
      verifier: Client.randomPKCECodeVerifier()
    }
    const challenge = yield* Effect.promise(() =>
      Client.calculatePKCECodeChallenge(pending.verifier)
    )
    const location = Client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri.href,
      scope: settings.scope,
      code_challenge: challenge,
      code_challenge_method: "S256",
      state: pending.state,
      nonce: pending.nonce
    })
    return { location: location.href, pending: written(pending) }
  })

  const claims = Effect.fnUntraced(function* (query: string, pending: Pending) {
    const configuration = yield* provider
    const answer = yield* tried(() =>
      Client.authorizationCodeGrant(configuration, new URL(`${redirectUri.href}${query}`), {
        pkceCodeVerifier: pending.verifier,
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        idTokenExpected: true
      })
    )
    return answer.claims()
  })

  const finish: OpenIdConnect["finish"] = Effect.fnUntraced(function* (query, text) {
    const pending = read(text)
    if (pending === null) return yield* new SignInRefused()
    const found = yield* claims(query, pending).pipe(
      Effect.catchTag("Failed", ({ cause }) =>
        Effect.andThen(
          logged("signing in was refused", cause),
          Effect.fail(isAway(cause) ? new ProviderAway() : new SignInRefused())
        )
      )
    )
    const user = found === undefined ? null : userOf(found, settings)
    return user ?? (yield* new WithoutRole())
  })

  return { begin, finish }
}
