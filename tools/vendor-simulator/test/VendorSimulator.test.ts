/** The simulator alone: its requirements on requests, and that it stops while requests are open. */
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { layer, VendorSimulator } from "../VendorSimulator.ts"

const authorization = "Bearer simulated"
const version = { "gocardless-version": "2015-07-06" }

const statusOf = (path: string, headers: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const { url } = yield* VendorSimulator
    const { status } = yield* HttpClient.get(url + path, { headers })
    return status
  })

describe("the simulator", () => {
  const requests: ReadonlyArray<readonly [string, Readonly<Record<string, string>>, number]> = [
    ["/v1/payment_methods/pm_1", { authorization }, 200],
    ["/v1/payment_methods/pm_1", {}, 401],
    ["/v1/payment_methods/pm_1", { authorization: "Basic eDp5" }, 401],
    ["/v1/setup_intents/seti_1", { authorization }, 200],
    ["/v1/customers/cus_1", { authorization }, 404],
    ["/v1/payment_methods", { authorization }, 404],
    ["/v1/payment_methods/pm_1/detach", { authorization }, 404],
    ["/mandates/MD1", { authorization, ...version }, 200],
    ["/mandates/MD1", { authorization }, 400],
    ["/mandates/MD1", version, 401],
    ["/customer_bank_accounts/BA1", { authorization, ...version }, 200],
    ["/constructor/MD1", { authorization, ...version }, 404],
    ["/mandates/%zz", { authorization, ...version }, 404],
    ["/", { authorization }, 404]
  ]

  it.effect.each(requests)("answers %s with %j by %i", ([path, headers, status]) =>
    Effect.gen(function* () {
      expect(yield* statusOf(path, headers)).toBe(status)
    }).pipe(Effect.provide([layer, FetchHttpClient.layer]))
  )

  it.effect("stops while a client waits for an answer", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const simulator = Context.get(yield* Layer.buildWithScope(layer, scope), VendorSimulator)
      const waiting = yield* HttpClient.get(`${simulator.url}/v1/payment_methods/pm_slow`, {
        headers: { authorization }
      }).pipe(Effect.exit, Effect.forkChild)
      yield* HttpClient.get(simulator.url)
      yield* Scope.close(scope, Exit.void)
      expect(yield* Fiber.join(waiting)).toMatchObject({ _tag: "Failure" })
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )
})
