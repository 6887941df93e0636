import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { hex } from "@data-import/domain/testing/freshNames"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { instructionPayload } from "@data-import/domain/testing/samples"
import type { Wire } from "@data-import/domain/testing/wire"
import { errorsOf } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import {
  type Account,
  addInstruction,
  bareAccountOf,
  importedAccount,
  service,
  stageAccount
} from "./postImportService.ts"
import { ScriptedVendor } from "./scriptedVendor.ts"
const action = "create_payment_instruction"
const posted = "data_import.import_process.post_import.completed-v1"

/** A unique reference that the vendor answers with these statuses one after the other. */
const referenceOf = (...statuses: ReadonlyArray<number | string>) =>
  [`pm_${hex(12)}`, ...statuses].join(".")

const timesAsked = (reference: string) =>
  Effect.map(ScriptedVendor, (vendor) => vendor.timesAsked(reference))

const instructionsOf = (account: { readonly number: Parameters<typeof descriptionOf>[0] }) =>
  Effect.map(descriptionOf(account.number), (description) => description.payment_instructions)

const cardDetails = { brand: "canary", last_four: "4242", expiry_month: 12, expiry_year: 2099 }

layer(service, { excludeTestServices: true })("a payment instruction over HTTP", (it) => {
  describe("the sample", () => {
    it.effect("is stored with 201 after the vendor confirmed it", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const { reference, type, vendor } = instructionPayload()
        const reply = yield* addInstruction(account, { reference, type, vendor })
        expect(reply.status).toBe(201)
        expect(reply.text).toBe(
          JSON.stringify({ kraken_account_number: account.number, reference })
        )
        expect(yield* timesAsked(reference)).toBe(1)
        expect(yield* instructionsOf(account)).toEqual([
          { vendor, reference, type, details: cardDetails, ended_at: null }
        ])
        const { audit, events } = yield* recordOf(account.key)
        expect([audit.at(-1), events.at(-1)]).toEqual([`${action} created`, posted])
      })
    )
  })

  describe("another one", () => {
    it.effect("is refused while one is active, without a call to the vendor", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const reference = referenceOf()
        yield* addInstruction(account, { reference })
        const others: ReadonlyArray<Wire> = [
          { reference: referenceOf() },
          { reference: reference.toUpperCase() },
          { reference, vendor: "GOCARDLESS", type: "DIRECT_DEBIT" }
        ]
        for (const other of others) {
          const reply = yield* addInstruction(account, other)
          expect([reply.status, ...errorsOf(reply)]).toEqual([
            400,
            "active_payment_instruction_exists"
          ])
        }
        expect(yield* timesAsked(reference.toUpperCase())).toBe(0)
        expect(yield* instructionsOf(account)).toHaveLength(1)
      })
    )
  })

  describe("for an account that does not exist", () => {
    it.effect("tells an unknown account from one that is only staged", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const reference = referenceOf()
        const unknown: Account = { tenant, key: tenant.keyOf("unknown") }
        const nothing = yield* addInstruction(unknown, { reference })
        expect([nothing.status, ...errorsOf(nothing)]).toEqual([
          400,
          "import_process_does_not_exist"
        ])
        const pending: Account = { tenant, key: tenant.keyOf("staged") }
        yield* stageAccount(pending, bareAccountOf(pending.key))
        const staged = yield* addInstruction(pending, { reference })
        expect([staged.status, ...errorsOf(staged)]).toEqual([400, "account_not_found"])
        expect(yield* timesAsked(reference)).toBe(0)
        expect((yield* recordOf(pending.key)).audit.at(-1)).toBe(`${action} account_not_found`)
      })
    )
  })

  describe("that the vendor does not confirm", () => {
    const rejected = "payment_instruction_rejected_by_vendor"
    const unavailable = "payment_vendor_unavailable"
    const answers: ReadonlyArray<readonly [number | string, number, string]> = [
      [404, 400, rejected],
      [302, 400, "payment_vendor_unreachable"],
      [503, 500, unavailable]
    ]
    it.effect.each(answers)(
      "because it answers %s, is refused with %i %s, and leaves room for another one",
      ([answer, status, code]) =>
        Effect.gen(function* () {
          const account = yield* importedAccount(bareAccountOf)
          const reference = referenceOf(answer)
          const reply = yield* addInstruction(account, { reference })
          expect([reply.status, reply.json]).toStrictEqual([
            status,
            { code, detail: expect.any(String) }
          ])
          expect(reply.text).not.toContain(reference)
          expect(yield* timesAsked(reference)).toBe(1)
          expect(yield* instructionsOf(account)).toEqual([])
          const { audit, events } = yield* recordOf(account.key)
          expect(audit.at(-1)).toBe(`${action} ${code}`)
          expect(events).not.toContain(posted)
          const other = yield* addInstruction(account, { reference: referenceOf() })
          expect(other.status, "another one").toBe(201)
        })
    )
  })
})
