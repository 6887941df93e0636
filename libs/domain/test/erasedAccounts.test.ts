/** Every post-import request is refused once the customer was erased, even if it began before. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Accounts } from "../src/ports/Accounts.ts"
import { Erasures } from "../src/ports/Erasures.ts"
import { layerMemory as erasures } from "../src/ports/memory/Erasures.ts"
import { PaymentVendor } from "../src/ports/PaymentVendor.ts"
import { key } from "./importPrograms.ts"
import { sampleTime } from "../testing/samples.ts"
import {
  audited,
  beginImported,
  call,
  codeOf,
  operationNames,
  postImport,
  world
} from "./postImportPrograms.ts"

const ports = Layer.merge(world, erasures)

const erase = Effect.flatMap(Erasures, (port) => port.erase({ key, at: sampleTime }))

const refused = "account_import_process_erased"

it.effect.each(operationNames)("an erased account refuses %s, and the log has no number", (name) =>
  Effect.gen(function* () {
    yield* beginImported()
    yield* erase
    const program = yield* postImport()
    expect(codeOf(yield* Effect.flip(call(program, name)))).toBe(refused)
    expect(yield* audited).toEqual([])
  }).pipe(Effect.provide(ports))
)

it.effect("an instruction is not stored if the account is erased while the vendor is asked", () =>
  Effect.gen(function* () {
    yield* beginImported()
    const accounts = yield* Accounts
    const vendor = yield* PaymentVendor
    const erasing = yield* Erasures
    const asked = PaymentVendor.of({
      verify: (...request) =>
        Effect.tap(vendor.verify(...request), () =>
          Effect.orDie(erasing.erase({ key, at: sampleTime }))
        )
    })
    const program = yield* Effect.provideService(postImport(), PaymentVendor, asked)
    expect(codeOf(yield* Effect.flip(call(program, "instruction")))).toBe(refused)
    expect((yield* accounts.view(key, {}))._tag).toBe("None")
  }).pipe(Effect.provide(ports))
)
