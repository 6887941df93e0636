/**
 * Lists of all accounts of a migration, as streams: their balances, and what its supplier has to
 * correct. Reading one is in the audit log. A supplier that the user may not see is reported as
 * unknown.
 * Source: docs/contract/board.md#balances, docs/contract/board.md#correction-file.
 */
import { Context, DateTime, Effect, Layer, Option, Result, Stream } from "effect"
import { AuditLog } from "../audit/AuditLog.ts"
import type { BatchId } from "../batches/Batch.ts"
import { Batches } from "../batches/Batches.ts"
import { type FailedAccount, ImportSearch } from "../migrations/ImportSearch.ts"
import { type Failure, unavailable } from "../requests/Failure.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { parseInSteps } from "../schema/Json.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import { inTimeSlices } from "../support/Steps.ts"
import { traced } from "../support/Traced.ts"
import { balancesCsv } from "./BalanceList.ts"
import { findBatch } from "./BatchOfSupplier.ts"
import { type BoardCaller, callerFor } from "./BoardCaller.ts"
import { accountRows, type CorrectionRow, lacksDocument, lineRows } from "./CorrectionFile.ts"
import { invalid } from "./Selection.ts"
import { visibleSupplier } from "./VisibleSuppliers.ts"

/** Audit: `read_accounts`. */
type List<Filter, A> = (
  caller: BoardCaller,
  supplier: string,
  filter: Filter
) => Effect.Effect<Stream.Stream<A, Failure>, Failure>

interface OfCohort {
  readonly cohort?: string
}

export interface CorrectionFilter extends OfCohort {
  /** Only errors with this code. */
  readonly code?: string
  /** Only the lines of this batch that have failed, which may be a rehearsal. */
  readonly batch_id?: string
}

export class AccountLists extends Context.Service<
  AccountLists,
  {
    /**
     * CSV of the accounts with their balances, in the order of the numbers, and erased accounts as
     * one amount.
     */
    readonly balances: List<OfCohort, string>
    /** The rows of failed accounts, then those of refused lines; of a cohort or of a batch. */
    readonly corrections: List<CorrectionFilter, CorrectionRow>
  }
>()("@data-import/domain/AccountLists") {}

interface Of {
  readonly supplier: SupplierCode
  readonly cohort: string | null
  readonly at: DateTime.Utc
}

/** How many lines are read at once. */
const pageSize = 1_000

const failedLines = (batches: Batches["Service"], id: BatchId) =>
  Stream.paginate(
    0,
    Effect.fnUntraced(function* (afterLine: number) {
      const lines = yield* batches.lines({ id, afterLine, outcome: "FAILED", limit: pageSize })
      const last = lines.length < pageSize ? undefined : lines.at(-1)?.line
      return [lines, Option.fromNullishOr(last)] as const
    })
  )

const cohortAndBatch = invalid({
  attr: "cohort",
  code: "invalid",
  detail: "Name a cohort or a batch, not both."
})

const rowsOfBatch = (batches: Batches["Service"], supplier: SupplierCode, named: string) =>
  Effect.map(findBatch({ batches }, { code: supplier }, named), ({ id: batch }) =>
    Stream.map(failedLines(batches, batch), ({ externalAccountNumber: number, line, text }) =>
      lineRows({ batch, line, number, result: text ?? "" })
    )
  )

const make = Effect.gen(function* () {
  const auditLog = yield* AuditLog
  const batches = yield* Batches
  const configuration = yield* Configuration
  const searching = yield* ImportSearch

  /** Records that all accounts are read, which the stream then does. */
  const read = <Filter extends OfCohort, A>(
    list: (
      of: Of,
      filter: Filter
    ) => Effect.Effect<Stream.Stream<A, StorageUnavailable>, Failure | StorageUnavailable>
  ): List<Filter, A> =>
    Effect.fnUntraced(
      function* (caller, named, filter) {
        const found = yield* visibleSupplier(configuration, caller.user, named)
        const { code: supplier, organisation } = found
        const at = yield* DateTime.now
        const rows = yield* list({ supplier, cohort: filter.cohort ?? null, at }, filter)
        yield* auditLog.recordRead({
          key: { import_supplier: supplier, external_account_number: null },
          action: "read_accounts",
          caller: callerFor(caller, organisation),
          at
        })
        return Stream.catchTag(rows, "StorageUnavailable", () => Stream.fail(unavailable))
      },
      Effect.catchTag("StorageUnavailable", () => unavailable)
    )

  /** One payload at a time is in memory, however many documents are missing. */
  const stagedFor = Effect.fnUntraced(function* (supplier: SupplierCode, failed: FailedAccount) {
    if (!lacksDocument(failed)) return null
    const key = { import_supplier: supplier, external_account_number: failed.number }
    const text = yield* searching.staged(key)
    if (Option.isNone(text)) return null
    return Result.getOrElse(yield* inTimeSlices(() => parseInSteps(text.value)), () => null)
  })

  const rowsOf = (supplier: SupplierCode, failed: FailedAccount) =>
    Effect.map(stagedFor(supplier, failed), (staged) => accountRows(failed, staged))

  const rowsOfAll = (of: Of) =>
    Stream.concat(
      Stream.mapEffect(searching.failures(of), (each) => rowsOf(of.supplier, each)),
      Stream.map(searching.refusals(of), lineRows)
    )

  const rowsFor = Effect.fnUntraced(function* (of: Of, filter: CorrectionFilter) {
    if (filter.batch_id === undefined) return rowsOfAll(of)
    if (filter.cohort !== undefined) return yield* cohortAndBatch
    return yield* rowsOfBatch(batches, of.supplier, filter.batch_id)
  })

  return AccountLists.of({
    balances: traced("AccountLists.balances")(
      read((of) => Effect.succeed(balancesCsv(searching.balances(of))))
    ),
    corrections: traced("AccountLists.corrections")(
      read((of, filter: CorrectionFilter) =>
        Effect.map(rowsFor(of, filter), (rows) =>
          rows.pipe(
            Stream.flatMap((each) => Stream.fromIterable(each)),
            Stream.filter((row) => filter.code === undefined || row.at(-1) === filter.code)
          )
        )
      )
    )
  })
})

/** Needs the storage ports. */
export const layer = Layer.effect(AccountLists, make)
