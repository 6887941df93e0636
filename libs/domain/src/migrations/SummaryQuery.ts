/**
 * The counts and sums of a supplier's imports. Read-only. A supplier of another organisation is
 * reported as unknown.
 * Source: docs/contract/queries.md#summary.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SupplierCodeField } from "../accounts/Account.ts"
import type { SupplierSummary } from "./SupplierSummary.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { ControlTotals, type ExpectedAccounts } from "./ControlTotals.ts"
import { SupplierSummaries } from "./SupplierSummaries.ts"
import { type Failure, NotFound, unavailable } from "../requests/Failure.ts"
import { findOwnSupplier } from "../suppliers/OwnSupplier.ts"
import { traced } from "../support/Traced.ts"

/** A summary with the instant at which it was read. */
export interface ReadSummary {
  readonly supplier: SupplierCode
  readonly cohort: string | null
  readonly summary: SupplierSummary
  /** Those of a cohort alone, if it is the summary of one, count as those of all. */
  readonly expected: ReadonlyArray<ExpectedAccounts>
  readonly at: DateTime.Utc
}

export class SummaryQuery extends Context.Service<
  SummaryQuery,
  {
    /** `supplier` comes from the path. An invalid one is reported as not found. */
    readonly read: (
      caller: Caller,
      supplier: string,
      cohort: string | null
    ) => Effect.Effect<ReadSummary, Failure>
  }
>()("@data-import/domain/SummaryQuery") {}

/** Reads the summary as of now. */
export const readSummary = Effect.fnUntraced(function* (
  {
    controlTotals,
    summaries
  }: {
    readonly controlTotals: ControlTotals["Service"]
    readonly summaries: SupplierSummaries["Service"]
  },
  supplier: SupplierCode,
  cohort: string | null
) {
  const at = yield* DateTime.now
  const summary = yield* summaries.read({ supplier, cohort, at })
  const all = (yield* controlTotals.expected([supplier])).get(supplier) ?? []
  const own = all.filter((each) => each.cohort === cohort)
  const expected = cohort === null ? all : own.map((each) => ({ ...each, cohort: null }))
  return { supplier, cohort, summary, expected, at } satisfies ReadSummary
})

const supplierCode = Schema.decodeUnknownOption(SupplierCodeField)

const make = Effect.gen(function* () {
  const ports = { controlTotals: yield* ControlTotals, summaries: yield* SupplierSummaries }
  const findSupplier = findOwnSupplier(yield* Configuration)

  const read = Effect.fnUntraced(function* (caller: Caller, named: string, cohort: string | null) {
    const found = yield* findSupplier(caller, supplierCode(named))
    if (Option.isNone(found)) return yield* new NotFound()
    return yield* readSummary(ports, found.value.code, cohort)
  })

  return SummaryQuery.of({
    read: traced("SummaryQuery.read")((caller, supplier, cohort) =>
      Effect.catchTag(read(caller, supplier, cohort), "StorageUnavailable", () => unavailable)
    )
  })
})

export const layer = Layer.effect(SummaryQuery, make)
