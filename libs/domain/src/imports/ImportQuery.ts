/**
 * The state of each import of a supplier. Read-only. A supplier of another organisation is reported
 * as unknown.
 * Source: docs/contract/queries.md#queries.
 */
import { Context, DateTime, Effect, Layer, Option, Schema, Stream } from "effect"
import {
  type DetailedList,
  type ImportListEntry,
  type ImportListKind,
  ImportProcesses
} from "./ImportProcesses.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import {
  type AccountNumber,
  ExternalAccountNumber,
  SupplierCodeField
} from "../accounts/Account.ts"
import { type Failure, NotFound, unavailable } from "../requests/Failure.ts"
import * as RequestFacts from "../requests/RequestFacts.ts"
import { type ImportKey, type ImportStatus, stateAt, statusOf } from "./ImportProcess.ts"
import { attemptsOfImport, type ImportDetails } from "./ImportDetails.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { findOwnSupplier } from "../suppliers/OwnSupplier.ts"
import { traced } from "../support/Traced.ts"

/** `kraken_account_number` is empty if no account exists yet. */
export interface ImportStatusRecord {
  readonly status: ImportStatus
  readonly kraken_account_number: AccountNumber | ""
}

/** An import with the instant at which its state was read. */
export interface ReadImport {
  readonly details: ImportDetails
  readonly at: DateTime.Utc
}

/** The parameters of the list endpoints; null if they were not sent. */
export interface ListRange {
  readonly limit: number | null
  readonly after: string | null
  /** Conditions and details; null for a plain list of accounts. */
  readonly detailed?: Omit<DetailedList, "at"> | null
}

/**
 * The whole list, or a page with the start of the next one (null on the last page). `at` is the
 * instant of the states.
 */
export type ImportList = { readonly at: DateTime.Utc } & (
  | { readonly _tag: "Whole"; readonly entries: Stream.Stream<ImportListEntry, Failure> }
  | {
      readonly _tag: "Page"
      readonly entries: ReadonlyArray<ImportListEntry>
      readonly nextAfter: string | null
    }
)

export class ImportQuery extends Context.Service<
  ImportQuery,
  {
    /** `supplier` and `number` come from the path. Invalid ones are reported as not found. */
    readonly status: (
      caller: Caller,
      supplier: string,
      number: string
    ) => Effect.Effect<ImportStatusRecord, Failure>

    /** The import with its latest attempts. `supplier` and `number` are as in `status`. */
    readonly details: (
      caller: Caller,
      supplier: string,
      number: string
    ) => Effect.Effect<ReadImport, Failure>

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

const orUnavailable = <A>(effect: Effect.Effect<A, Failure | StorageUnavailable>) =>
  Effect.catchTag(effect, "StorageUnavailable", () => unavailable)

const readStatus = (processes: ImportProcesses["Service"]) =>
  Effect.fnUntraced(function* (caller: Caller, named: string, number: string) {
    const supplier = supplierCode(named)
    const external = externalNumber(number)
    if (Option.isNone(supplier) || Option.isNone(external)) return yield* new NotFound()
    const { organisation } = caller
    const sought = { organisation, supplier: supplier.value, number: external.value }
    const found = yield* processes.findOwn(sought)
    if (Option.isNone(found)) return yield* new NotFound()
    yield* RequestFacts.note({ import_supplier: sought.supplier })
    // Evaluated when the import was read, because an earlier time would be out of date.
    const state = stateAt(found.value, yield* DateTime.now)
    const record: ImportStatusRecord = {
      status: statusOf(state),
      kraken_account_number: state._tag === "Imported" ? state.accountNumber : ""
    }
    return record
  })

const make = Effect.gen(function* () {
  const processes = yield* ImportProcesses
  const findSupplier = findOwnSupplier(yield* Configuration)

  const supplierOf = Effect.fnUntraced(function* (caller: Caller, named: string) {
    const supplier = yield* findSupplier(caller, supplierCode(named))
    return Option.isSome(supplier) ? supplier.value : yield* new NotFound()
  })

  const status = readStatus(processes)

  const details = Effect.fnUntraced(function* (caller: Caller, named: string, number: string) {
    const external = externalNumber(number)
    if (Option.isNone(external)) return yield* new NotFound()
    const { code } = yield* supplierOf(caller, named)
    const key: ImportKey = { import_supplier: code, external_account_number: external.value }
    const found = yield* processes.details(key, attemptsOfImport)
    if (Option.isNone(found)) return yield* new NotFound()
    const read: ReadImport = { details: found.value, at: yield* DateTime.now }
    return read
  })

  const list = Effect.fnUntraced(function* (
    caller: Caller,
    named: string,
    kind: ImportListKind,
    { after, detailed = null, limit }: ListRange
  ) {
    const { code: supplier } = yield* supplierOf(caller, named)
    const at = yield* DateTime.now
    const query = { supplier, kind, after, detailed: detailed && { ...detailed, at } }
    if (limit === null) {
      const entries = processes
        .list({ ...query, limit })
        .pipe(Stream.catchTag("StorageUnavailable", () => Stream.fail(unavailable)))
      return { _tag: "Whole", entries, at } as const
    }
    const found = yield* Stream.runCollect(processes.list({ ...query, limit: limit + 1 }))
    const entries = found.slice(0, limit)
    const last = found.length > limit ? entries.at(-1) : undefined
    const nextAfter = last?.external_account_number ?? null
    return { _tag: "Page", entries, nextAfter, at } as const
  })

  return ImportQuery.of({
    status: traced("ImportQuery.status")((caller, supplier, number) =>
      orUnavailable(status(caller, supplier, number))
    ),
    details: traced("ImportQuery.details")((caller, supplier, number) =>
      orUnavailable(details(caller, supplier, number))
    ),
    list: traced("ImportQuery.list")((caller, supplier, kind, range) =>
      orUnavailable(list(caller, supplier, kind, range))
    )
  })
})

export const layer = Layer.effect(ImportQuery, make)
