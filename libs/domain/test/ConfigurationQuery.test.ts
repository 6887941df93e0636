/** The configuration that a supplier reads. Source: docs/contract/queries.md#configuration. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import {
  ConfigurationQuery,
  layer as configurationQuery
} from "../src/suppliers/ConfigurationQuery.ts"
import { TimeZone } from "../src/suppliers/BusinessDay.ts"
import { OrganisationName } from "../src/suppliers/Organisation.ts"
import { codeIn, wireCode } from "../src/suppliers/Supplier.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { faultAtEvery, type FaultPlan, noFaults, withFaults } from "../testing/faults.ts"
import { callerOf, supplierOf } from "../testing/freshNames.ts"
import { sampleTime } from "../testing/samples.ts"
import { begin, demo, ports, rival, supplierCode } from "./importPrograms.ts"

const query = Effect.fnUntraced(function* (plan: FaultPlan = noFaults()) {
  const configuration = withFaults(Configuration, yield* Configuration, plan)
  const layer = Layer.provide(configurationQuery, Layer.succeed(Configuration, configuration))
  return yield* Effect.provide(ConfigurationQuery, layer)
})

const kiritimati = TimeZone.make("Pacific/Kiritimati")

it.effect("has the present time zone and added choices", () =>
  Effect.gen(function* () {
    yield* begin({ timeZone: kiritimati })
    const setup = yield* Configuration
    const { read } = yield* query()
    const before = { supplier: supplierCode, timeZone: kiritimati, codeLists: {} }
    expect(yield* read(demo, supplierCode)).toEqual(before)
    yield* setup.addCode("reason", "Z")
    yield* setup.addCode("reason", "A")
    yield* setup.configureSupplier(supplierCode, { timeZone: TimeZone.make("Europe/London") })
    expect(yield* read(demo, supplierCode)).toEqual({
      supplier: supplierCode,
      timeZone: "Europe/London",
      codeLists: { reason: ["Z", "A"] }
    })
  }).pipe(Effect.provide(ports))
)

it.effect("is that of the supplier of the caller's mode", () =>
  Effect.gen(function* () {
    yield* begin()
    const setup = yield* Configuration
    const test = callerOf(OrganisationName.make("demo-test"))
    yield* setup.createOrganisation(test.organisation, sampleTime, demo.organisation)
    const code = codeIn("test", wireCode(supplierCode))
    const supplier = { ...supplierOf(test.organisation), code, timeZone: kiritimati }
    yield* setup.createSupplier({ ...supplier, documentRoot: "demo-test" })
    const { read } = yield* query()
    expect(yield* read(test, supplierCode)).toMatchObject({ supplier: code, timeZone: kiritimati })
    expect(yield* read(demo, supplierCode)).toMatchObject({ timeZone: "UTC" })
  }).pipe(Effect.provide(ports))
)

it.effect.each<readonly [string, string]>([
  ["of another organisation", supplierCode],
  ["unknown", "NOBODY"],
  ["empty", ""],
  ["too long", "x".repeat(33)]
])("is not found for a supplier that is %s", ([what, code]) =>
  Effect.gen(function* () {
    yield* begin()
    const { read } = yield* query()
    const failure = yield* Effect.flip(read(rival, code))
    expect(failure._tag, what).toBe("NotFound")
  }).pipe(Effect.provide(ports))
)

it.effect.each(["supplier", "codeLists"])(
  "is unavailable while the store does not answer %s",
  (operation) =>
    Effect.gen(function* () {
      yield* begin()
      const { read } = yield* query(
        faultAtEvery(operation, { kind: "unavailable", when: "before" })
      )
      const failure = yield* Effect.flip(read(demo, supplierCode))
      expect(failure).toMatchObject({ _tag: "ServiceUnavailable", retryAfterSeconds: 1 })
    }).pipe(Effect.provide(ports))
)
