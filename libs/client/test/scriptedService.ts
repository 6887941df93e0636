/** A scripted service without a network, and a client of it. */
import { Clock, Effect, Fiber, Redacted } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as Client from "../src/EffectClient.ts"

/** A request to the service, with its time by the test's clock. */
export interface Asked {
  readonly at: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** An answer; undefined for a connection that breaks, null for silence. */
export type Reply = Response | undefined | null

export const json = (
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {}
): Response =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers }
  })

export const refusal = (
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {}
): Response => json({ detail: "As the test says.", code }, status, headers)

let issued = 0

/** Tokens of an hour, which are never the same. */
export const tokenAnswer = (seconds = 3_600): Response => {
  const payload = { iat: 1_000, exp: 1_000 + seconds }
  const obtainServiceToken = { token: `token-${++issued}`, payload }
  return json({ data: { obtainServiceToken } })
}

const textOf = (body: unknown): string =>
  body instanceof Uint8Array ? new TextDecoder().decode(body) : ""

/** A client whose requests this function answers. Token requests are answered with a token. */
export const clientOf = (
  reply: (asked: Asked) => Reply,
  settings: Partial<Client.Settings> = {},
  token: () => Reply = tokenAnswer
) =>
  Effect.gen(function* () {
    const asked: Array<Asked> = []
    const httpClient = HttpClient.make((request, url) =>
      Effect.gen(function* () {
        const { body, headers, method } = request
        const text = body._tag === "Uint8Array" ? textOf(body.body) : ""
        const at = yield* Clock.currentTimeMillis
        const one = { at, method, path: url.pathname + url.search, headers, body: text }
        asked.push(one)
        const answer = one.path === "/v1/graphql/" ? token() : reply(one)
        if (answer === null) return yield* Effect.never
        if (answer === undefined) {
          const reason = new HttpClientError.TransportError({ request })
          return yield* new HttpClientError.HttpClientError({ reason })
        }
        return HttpClientResponse.fromWeb(request, answer)
      })
    )
    const client = yield* Client.make({
      baseUrl: "http://service.test/",
      apiKey: Redacted.make("sk_test"),
      ...settings
    }).pipe(Effect.provideService(HttpClient.HttpClient, httpClient))
    return { asked, client }
  })

/** Lets promises settle, and everything that depends on them. */
const settled = Effect.promise(async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
})

/** Runs an effect to its end while the clock of the test goes on. */
export const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    for (;;) {
      yield* settled
      if (fiber.pollUnsafe() !== undefined) return yield* Fiber.join(fiber)
      yield* TestClock.adjust("250 millis")
    }
  })
