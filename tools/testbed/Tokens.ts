/** Obtaining tokens from the token mutation. */
import { Data, Effect } from "effect"
import { get } from "@data-import/domain/testing/wire"
import type { Answer, Client, Request, Settled, Unanswered } from "./Client.ts"
import * as Clients from "./Client.ts"

/** There is no token for the API key. */
class NoToken extends Data.TaggedError("NoToken")<{ readonly status: number }> {
  override get message(): string {
    return `there was no token: ${this.status}`
  }
}

/** A request for a token, by an API key or by the refresh token that came with the last one. */
export const tokenRequest = (
  credential: { readonly APIKey: string } | { readonly refreshToken: string }
): Request => {
  const [[name, secret] = ["", ""]] = Object.entries(credential)
  const input = `{${name}: ${JSON.stringify(secret)}}`
  const query = `mutation { obtainServiceToken(input: ${input}) { token refreshToken } }`
  return { method: "POST", path: "/v1/graphql/", body: { query } }
}

/** The tokens in the answer of the token mutation; both are empty if it has none. */
export const tokensOf = ({
  json
}: Pick<Answer, "json">): { readonly token: string; readonly refreshToken: string } => {
  const tokens = get(json, "data.obtainServiceToken")
  return {
    token: Clients.textAt(tokens, "token"),
    refreshToken: Clients.textAt(tokens, "refreshToken")
  }
}

/** A client that has its token already. */
export interface Session {
  readonly token: string
  /** Sends a request once. */
  readonly send: (request: Request) => ReturnType<Client["send"]>
  /** Sends a request until its answer is final. */
  readonly settle: (request: Request) => Effect.Effect<Settled, Unanswered>
  /** How often a request had to be sent again for that. */
  readonly repeats: () => number
}

/** A token for the API key. */
export const tokenFor = Effect.fnUntraced(function* (client: Client, apiKey: string) {
  const { answer } = yield* client.settle(tokenRequest({ APIKey: apiKey }), () => {})
  const { token } = tokensOf(answer)
  return token === "" ? yield* new NoToken({ status: answer.status }) : token
})

/** A session at the gateway at this port, with at most this many connections. */
export const openSession = Effect.fnUntraced(function* (
  port: number,
  apiKey: string,
  connections: number
) {
  const client = yield* Clients.make(port, connections)
  const token = yield* tokenFor(client, apiKey)
  let repeats = 0
  return {
    token,
    send: (request) => client.send({ ...request, token }),
    settle: (request) => client.settle({ ...request, token }, () => void repeats++),
    repeats: () => repeats
  } satisfies Session
})
