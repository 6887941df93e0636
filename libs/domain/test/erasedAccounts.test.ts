/** Every post-import request is refused once the customer was erased, even if it began before. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Accounts } from "../src/accounts/Accounts.ts"
import { importOf, MemoryStore, putImport } from "../testing/memory/Store.ts"
import { PaymentVendor } from "../src/payments/PaymentVendor.ts"
import { key } from "./importPrograms.ts"
import {
  audited,
  beginImported,
  call,
  codeOf,
  operationNames,
  postImport,
  world
} from "./postImportPrograms.ts"

const erase = Effect.map(MemoryStore, (store) => {
  const stored = importOf(store, key)
  if (stored === undefined) throw new Error("There is no import")
  putImport(store, { ...stored, process: { ...stored.process, account: null, erased: true } })
})

const refused = "account_import_process_erased"

it.effect.each(operationNames)("an erased account refuses %s, and the log has no number", (name) =>
  Effect.gen(function* () {
    yield* beginImported()
    yield* erase
    const program = yield* postImport()
    expect(codeOf(yield* Effect.flip(call(program, name)))).toBe(refused)
    expect(yield* audited).toEqual([])
  }).pipe(Effect.provide(world))
)

it.effect("an instruction is not stored if the account is erased while the vendor is asked", () =>
  Effect.gen(function* () {
    yield* beginImported()
    const accounts = yield* Accounts
    const vendor = yield* PaymentVendor
    const store = yield* MemoryStore
    const asked = PaymentVendor.of({
      verify: (...request) =>
        Effect.tap(vendor.verify(...request), () =>
          Effect.provideService(erase, MemoryStore, store)
        )
    })
    const program = yield* Effect.provideService(postImport(), PaymentVendor, asked)
    expect(codeOf(yield* Effect.flip(call(program, "instruction")))).toBe(refused)
    expect((yield* accounts.view(key, {}))._tag).toBe("None")
  }).pipe(Effect.provide(world))
)
