/**
 * Personal data appears neither in what the board shows unrevealed, nor in its log, nor in its
 * addresses. Source: docs/contract/board.md#masks.
 */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { freshSupplier, newAccountFor, noon } from "@data-import/domain/testing/freshNames"
import { claim, stagedHash } from "@data-import/domain/testing/importStates"
import { domesticAccount, domesticPayload } from "@data-import/domain/testing/samples"
import { Premises } from "@data-import/server/testing/RunningService"
import { all, ask, changes, manager, nowhere, tokenOf } from "./BoardEndpoints.ts"
import { browserOf, serviceWith } from "./boardService.ts"

const canary = "canary"

/** Fields that the contract lists as no personal data. */
const shown =
  /^(?:import_supplier|external_account_number|country|ledger_code|operations_team_name|payment_type|product_code|rate_band|sales_channel|sales_subchannel|statement_id|tax_type|transaction_id|type|reason|account_type|period_length|communication_preference|document_accessibility|units|unit_type|.*date.*|.*_at|.*since)$/

/** Puts the canary into every text of other fields. */
const marked = (value: unknown, name: string): unknown => {
  if (typeof value === "string") {
    return shown.test(name) && name !== "date_of_birth" ? value : `x-${canary}-${name}`
  }
  if (Array.isArray(value)) return value.map((each) => marked(each, name))
  if (typeof value !== "object" || value === null) return value
  const members = Object.entries(value).map(([field, inner]) => [field, marked(inner, field)])
  return Object.fromEntries(members) as unknown
}

/** One import that failed with details of its payload, and one that is an account. */
const migration = Effect.gen(function* () {
  const imports = yield* ImportProcesses
  const { caller, keyOf, supplier } = yield* freshSupplier
  const [failed, imported] = [keyOf("failed"), keyOf("imported")]
  for (const key of [failed, imported]) {
    const payload = JSON.stringify(marked({ ...domesticPayload(), ...key }, ""))
    expect(payload.split(canary).length).toBeGreaterThan(20)
    yield* imports.stage({ key, payload, hash: stagedHash, cohort: null, caller, at: noon })
  }
  const { attempt } = yield* claim(failed, caller, noon)
  const outcome = "account_failed_validation"
  const errors = [
    { code: "invalid", attr: `customers.0.${canary}`, detail: `Is '${canary}', not a name.` },
    {
      code: "metadata_has_duplicate_keys",
      attr: "metadata",
      detail: `Sent more than once: ${canary}.`
    }
  ] as const
  yield* imports.release({ key: failed, attempt, outcome, errors, dryRun: false, caller, at: noon })
  const begun = yield* claim(imported, caller, noon)
  const account = domesticAccount(imported)
  const newAccount = { ...newAccountFor(imported, noon), account }
  yield* imports.complete({ key: imported, attempt: begun.attempt, newAccount, caller })
  return supplier.code
})

layer(serviceWith({}), { excludeTestServices: true, timeout: "1 minute" })(
  "personal data",
  (it) => {
    it.effect(
      "is shown only when revealed, and is never logged",
      () =>
        Effect.gen(function* () {
          const supplier = yield* migration
          const one = yield* browserOf(manager(null))
          const token = yield* tokenOf(one)
          const told: Array<string> = []
          for (const number of ["failed", "imported"]) {
            const [batch, certificate] = [crypto.randomUUID(), crypto.randomUUID()]
            const named = { ...nowhere, supplier, number, batch, certificate, move: batch }
            for (const endpoint of all.filter((each) => each !== changes)) {
              if (endpoint.path.endsWith("sign-out/")) continue
              const { text } = yield* ask(one, endpoint, named, token)
              if (text.includes(canary)) told.push(`${endpoint.identifier} ${number}`)
            }
          }
          expect(told).toEqual([
            ...["exportCorrections failed", "reveal failed"],
            ...["exportCorrections imported", "reveal imported"]
          ])
          const search = `/board/api/migrations/${supplier}/imports/?search=${canary}`
          yield* one.get(`${search}&code=${canary}&attr=${canary}&cohort=${canary}`)
          yield* one.get(`/board/api/audit/?who=${canary}&external_account_number=${canary}`)
          yield* one.get(`/board/migrations/${supplier}/imports/?search=${canary}`)
          yield* one.get(`/board/sign-in/${canary}/?to=${canary}`)
          yield* one.post(`/board/sign-in/invitation/${canary}/`)
          yield* one.get(`/board/sign-in/callback/?code=${canary}&error_description=${canary}`)
          const log = (yield* Premises).log.join("")
          expect(log).toContain("/reveal/")
          expect(log).not.toContain(canary)
        }),
      60_000
    )
  }
)
