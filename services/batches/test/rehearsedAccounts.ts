/** Generated accounts, every fifth with a fault, which are rehearsed and then really imported. */
import { DateTime, Effect } from "effect"
import { expect } from "@effect/vitest"
import fc from "fast-check"
import { accountPayload } from "@data-import/domain/testing/arbitraries"
import { mutant } from "@data-import/domain/testing/mutants"
import type { Wire } from "@data-import/domain/testing/wire"
import { auditTables, rows, tablesBut } from "@data-import/postgres/testing/rows"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import * as Service from "./batchesService.ts"

/** The same seed makes the same accounts. They are valid as of two minutes ago. */
const accountsOf = (supplier: string, now: DateTime.Utc, count: number): ReadonlyArray<Wire> => {
  const then = DateTime.subtract(now, { minutes: 2 })
  const account = accountPayload({ now: then, supplier }).chain((valid) =>
    fc.oneof(
      { weight: 4, arbitrary: fc.constant(valid) },
      { weight: 1, arbitrary: mutant(valid, then).map(({ body }) => body) }
    )
  )
  const accounts = fc.sample(account, { numRuns: count, seed: 20_261_129 })
  return accounts.map((each, index) => ({ ...each, external_account_number: `AL-${index}` }))
}

/** Stores what staging would refuse today, as if the rules had been others. */
const staged = (supplier: string, accounts: ReadonlyArray<Wire>) =>
  rows(
    (sql) => sql`
    insert into import_processes (supplier, external_account_number, payload, payload_bytes,
      payload_hash, staged_at)
    select ${supplier}, number, account, octet_length(account::text),
      sha256(convert_to(account::text, 'UTF8')), now()
    from unnest(${accounts.map((account) => account["external_account_number"])}::text[],
        ${accounts.map((account) => JSON.stringify(account))}::json[])
      as sent(number, account)`
  )

const atOnce = 1_000

/** The path of a batch that has ended: of these accounts, or of those that are pending. */
const ran = Effect.fnUntraced(function* (
  tenant: Tenant,
  accounts: ReadonlyArray<Wire> | null,
  settings: object
) {
  const batch = yield* Service.begin(tenant, {
    ...(accounts === null ? { operation: "PROCESS", source: "PENDING" } : { operation: "IMPORT" }),
    operations_team_name: "Migration Team",
    ...settings
  })
  const lines = accounts ?? []
  for (let from = 0; from < lines.length; from += atOnce) {
    yield* Service.upload(tenant, batch, lines.slice(from, from + atOnce), { from: from + 1 })
  }
  yield* Service.start(tenant, batch, lines.length)
  yield* Service.workAll
  return batch
})

/** What a rehearsal writes. */
const written = [
  ...["import_attempts", "outbox", ...auditTables, "batches", "batch_chunks", "batch_rehearsed"],
  ...["batch_problems", "batch_problem_sets", "followed_rehearsals", "rehearsal_counts"]
]

export const rehearsedAndRun = Effect.fnUntraced(function* (
  operation: "IMPORT" | "PROCESS",
  count: number
) {
  const tenant = yield* freshTenant()
  const supplier = tenant.supplier.code
  const accounts = accountsOf(supplier, yield* DateTime.now, count)
  if (operation === "PROCESS") yield* staged(supplier, accounts)
  const lines = operation === "PROCESS" ? null : accounts
  const before = yield* tablesBut(...written)
  const rehearsal = yield* ran(tenant, lines, { dry_run: true })
  expect(yield* tablesBut(...written)).toEqual(before)
  yield* ran(tenant, lines, {})
  yield* Service.followAll(rehearsal.split("/").at(-2) ?? "")
  const { json } = yield* Service.get(tenant, `${rehearsal}outcome/`)
  const outcome = json as Readonly<Record<"compared" | "share_as_predicted", number>> & {
    readonly sums: Readonly<Record<"predicted" | "real", object>>
  }
  expect(outcome, JSON.stringify(outcome)).toMatchObject({ sums: { predicted: outcome.sums.real } })
  expect(outcome.share_as_predicted, JSON.stringify(outcome)).toBeGreaterThanOrEqual(0.999)
  // Staging refuses the faults, so that nothing is tried of them.
  expect(outcome.compared).toBeGreaterThan(count * (operation === "PROCESS" ? 0.99 : 0.6))
})
