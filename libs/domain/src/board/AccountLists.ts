/**
 * Lists of all accounts of a migration, as streams: their balances, and what its supplier has to
 * correct. Reading one is in the audit log. A supplier that the user may not see is reported as
 * unknown.
 * Source: docs/contract/board.md#balances, docs/contract/board.md#correction-file.
 */
import { Context, DateTime, Effect, Layer, Option, Result, Stream } from "effect"
import { AuditLog } from "../audit/AuditLog.ts"
import { type FailedAccount, ImportSearch } from "../migrations/ImportSearch.ts"
import { type Failure, unavailable } from "../requests/Failure.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { parseInSteps } from "../schema/Json.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import { inTimeSlices } from "../support/Steps.ts"
import { traced } from "../support/Traced.ts"
import { balancesCsv } from "./BalanceList.ts"
import { type BoardCaller, callerFor } from "./BoardCaller.ts"
import { accountRows, type CorrectionRow, lacksDocument, lineRows } from "./CorrectionFile.ts"
import { visibleSupplier } from "./VisibleSuppliers.ts"

/** `cohort` null means all accounts. Audit: `read_accounts`. */
type List<A> = (
  caller: BoardCaller,
  supplier: string,
  cohort: string | null
) => Effect.Effect<Stream.Stream<A, Failure>, Failure>

export class AccountLists extends Context.Service<
  AccountLists,
  {
    /**
     * CSV of the accounts with their balances, in the order of the numbers, and erased accounts as
     * one amount.
     */
    readonly balances: List<string>
    /** The rows of failed accounts, then those of refused lines; only with `code` if it is given. */
    readonly corrections: (
      ...query: [...Parameters<List<CorrectionRow>>, code?: string]
    ) => ReturnType<List<CorrectionRow>>
  }
>()("@data-import/domain/AccountLists") {}

interface Of {
  readonly supplier: SupplierCode
  readonly cohort: string | null
  readonly at: DateTime.Utc
}

const make = Effect.gen(function* () {
  const auditLog = yield* AuditLog
  const configuration = yield* Configuration
  const searching = yield* ImportSearch

  /** Records that all accounts are read, which the stream then does. */
  const read = <A>(list: (of: Of) => Stream.Stream<A, StorageUnavailable>): List<A> =>
    Effect.fnUntraced(
      function* (caller, named, cohort) {
        const found = yield* visibleSupplier(configuration, caller.user, named)
        const { code: supplier, organisation } = found
        const at = yield* DateTime.now
        yield* auditLog.recordRead({
          key: { import_supplier: supplier, external_account_number: null },
          action: "read_accounts",
          caller: callerFor(caller, organisation),
          at
        })
        return list({ supplier, cohort, at }).pipe(
          Stream.catchTag("StorageUnavailable", () => Stream.fail(unavailable))
        )
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

  return AccountLists.of({
    balances: traced("AccountLists.balances")(read((of) => balancesCsv(searching.balances(of)))),
    corrections: traced("AccountLists.corrections")((caller, named, cohort, code) => {
      const isOf = (row: CorrectionRow) => code === undefined || row.at(-1) === code
      return read((of) =>
        Stream.concat(
          Stream.mapEffect(searching.failures(of), (each) => rowsOf(of.supplier, each)),
          Stream.map(searching.refusals(of), lineRows)
        ).pipe(
          Stream.flatMap((rows) => Stream.fromIterable(rows)),
          Stream.filter(isOf)
        )
      )(caller, named, cohort)
    })
  })
})

/** Needs the storage ports. */
export const layer = Layer.effect(AccountLists, make)
