/** A client that has its token already, for the scenarios that send single requests. */
import { Data, Effect, Predicate } from "effect"
import * as Client from "./Client.ts"
import * as Requests from "./Requests.ts"
import { System, type Tenant } from "./System.ts"

/** There is no token for the tenant's API key. */
class NoToken extends Data.TaggedError("NoToken")<{ readonly status: number }> {
  override get message(): string {
    return `there was no token: ${this.status}`
  }
}

/** The text under a name of a JSON object; empty where there is none. */
export const textAt = (json: unknown, name: string): string => {
  const found: unknown = Predicate.isObject(json) ? Reflect.get(json, name) : undefined
  return Predicate.isString(found) ? found : ""
}

/** What the token mutation answers; both are empty where it answers none. */
export const tokensOf = ({
  json
}: Client.Answer): { readonly token: string; readonly refreshToken: string } => {
  const data: unknown = Predicate.isObject(json) ? Reflect.get(json, "data") : undefined
  const tokens: unknown = Predicate.isObject(data)
    ? Reflect.get(data, "obtainServiceToken")
    : undefined
  return { token: textAt(tokens, "token"), refreshToken: textAt(tokens, "refreshToken") }
}

export interface Session {
  /** One request with the token, sent once. */
  readonly send: (request: Client.Request) => Effect.Effect<Client.Answer, Client.ConnectionLost>
  /** The same until there is an answer to go on with. */
  readonly settle: (request: Client.Request) => Effect.Effect<Client.Settled, Client.Unanswered>
}

/** A session of the tenant at the gateway, with so many connections at most. */
export const open = Effect.fnUntraced(function* (tenant: Tenant, connections: number) {
  const { services } = yield* System
  const client = yield* Client.make(services.gateway.port, connections)
  const ignore = () => {}
  const request = Requests.token({ APIKey: tenant.apiKey })
  const { answer } = yield* client.settle(request, ignore)
  const { token } = tokensOf(answer)
  if (token === "") return yield* new NoToken({ status: answer.status })
  return {
    send: (request) => client.send({ ...request, token }),
    settle: (request) => client.settle({ ...request, token }, ignore)
  } satisfies Session
})
