/**
 * The state of each import of a supplier. Read-only. A supplier of another organisation is reported
 * as unknown.
 * Source: docs/contract/queries.md#queries.
 */
import { Context, DateTime, Effect, Layer, Option, Schema, Stream } from "effect"
import {
  type ImportListEntry,
  type ImportListKind,
  ImportProcesses
} from "../ports/ImportProcesses.ts"
import { Configuration } from "../ports/Configuration.ts"
import { type AccountNumber, ExternalAccountNumber, SupplierCodeField } from "../account/Account.ts"
import { type Failure, NotFound, unavailable } from "../requests/Failure.ts"
import { type ImportKey, type ImportStatus, stateAt, statusOf } from "../account/ImportProcess.ts"
import type { Caller } from "../organisation/Organisation.ts"
import { findOwnSupplier } from "../validation/OwnSupplier.ts"

/** `kraken_account_number` is empty where no account exists yet. */
export interface ImportStatusRecord {
  readonly status: ImportStatus
  readonly kraken_account_number: AccountNumber | ""
}

/** The parameters of the list endpoints; null if they were not sent. */
export interface ListRange {
  readonly limit: number | null
  readonly after: string | null
}

/** The whole list, or a page with the start of the next one (null on the last page). */
export type ImportList =
  | { readonly _tag: "Whole"; readonly entries: Stream.Stream<ImportListEntry, Failure> }
  | {
      readonly _tag: "Page"
      readonly entries: ReadonlyArray<ImportListEntry>
      readonly nextAfter: string | null
    }

export class ImportQuery extends Context.Service<
  ImportQuery,
  {
    /** `supplier` and `number` come from the path. Invalid ones are reported as not found. */
    readonly status: (
      caller: Caller,
      supplier: string,
      number: string
    ) => Effect.Effect<ImportStatusRecord, Failure>

    readonly list: (
      caller: Caller,
      supplier: string,
      kind: ImportListKind,
      range: ListRange
    ) => Effect.Effect<ImportList, Failure>
  }
>()("@data-import/domain/ImportQuery") {}

const supplierCode = Schema.decodeUnknownOption(SupplierCodeField)
const externalNumber = Schema.decodeUnknownOption(ExternalAccountNumber)

const make = Effect.gen(function* () {
  const processes = yield* ImportProcesses
  const findSupplier = findOwnSupplier(yield* Configuration)

  const supplierOf = Effect.fnUntraced(function* (caller: Caller, named: string) {
    const supplier = yield* findSupplier(caller, supplierCode(named))
    return Option.isSome(supplier) ? supplier.value : yield* new NotFound()
  })

  /** Evaluated when the import is read, because an earlier time would be out of date. */
  const stateNow = Effect.fnUntraced(function* (key: ImportKey) {
    const found = yield* processes.find(key)
    const now = yield* DateTime.now
    return Option.map(found, (process) => stateAt(process, now))
  })

  const status = Effect.fnUntraced(function* (caller: Caller, named: string, number: string) {
    const code = supplierCode(named)
    const external = externalNumber(number)
    if (Option.isNone(code) || Option.isNone(external)) return yield* new NotFound()
    const key = { import_supplier: code.value, external_account_number: external.value }
    const [, state] = yield* Effect.all([supplierOf(caller, named), stateNow(key)], {
      concurrency: 2
    })
    if (Option.isNone(state)) return yield* new NotFound()
    const record: ImportStatusRecord = {
      status: statusOf(state.value),
      kraken_account_number: state.value._tag === "Imported" ? state.value.accountNumber : ""
    }
    return record
  })

  const list = Effect.fnUntraced(function* (
    caller: Caller,
    named: string,
    kind: ImportListKind,
    { after, limit }: ListRange
  ) {
    const { code: supplier } = yield* supplierOf(caller, named)
    if (limit === null) {
      const entries = processes
        .list({ supplier, kind, after, limit })
        .pipe(Stream.catchTag("StorageUnavailable", () => Stream.fail(unavailable)))
      return { _tag: "Whole", entries } as const
    }
    const found = yield* Stream.runCollect(
      processes.list({ supplier, kind, after, limit: limit + 1 })
    )
    const entries = found.slice(0, limit)
    const last = found.length > limit ? entries.at(-1) : undefined
    const nextAfter = last?.external_account_number ?? null
    return { _tag: "Page", entries, nextAfter } as const
  })

  return ImportQuery.of({
    status: Effect.fn("ImportQuery.status")((caller, supplier, number) =>
      Effect.catchTag(status(caller, supplier, number), "StorageUnavailable", () => unavailable)
    ),
    list: Effect.fn("ImportQuery.list")((caller, supplier, kind, range) =>
      Effect.catchTag(list(caller, supplier, kind, range), "StorageUnavailable", () => unavailable)
    )
  })
})

export const layer = Layer.effect(ImportQuery, make)
