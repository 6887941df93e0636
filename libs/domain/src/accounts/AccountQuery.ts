/**
 * Reads accounts back as they are stored, with what was added to them. Every read is in the audit
 * log before anything is answered. An account of another organisation is reported as unknown.
 * Source: docs/contract/queries.md#get-an-account.
 */
import { Context, DateTime, Effect, Layer, Option, Schema, Stream } from "effect"
import { AccountNumber, SupplierCodeField } from "./Account.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { Accounts } from "./Accounts.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { ImportProcesses } from "../imports/ImportProcesses.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { type Failure, NotFound, unavailable } from "../requests/Failure.ts"
import { findOwnSupplier, ownSupplier } from "../suppliers/OwnSupplier.ts"
import { traced } from "../support/Traced.ts"
import { accountLines, accountText } from "./AccountText.ts"

/** JSON text in parts; memory use does not grow with its length. */
export type TextStream = Stream.Stream<string, Failure>

export class AccountQuery extends Context.Service<
  AccountQuery,
  {
    /** One account; `number` comes from the path. An invalid one is reported as not found. */
    readonly read: (caller: Caller, number: string) => Effect.Effect<TextStream, Failure>

    /**
     * All accounts of a supplier, as NDJSON in the order of their external account numbers. Each is
     * read when the stream reaches it. Accounts that are created meanwhile may be missing.
     */
    readonly readAll: (caller: Caller, supplier: string) => Effect.Effect<TextStream, Failure>
  }
>()("@data-import/domain/AccountQuery") {}

const supplierCode = Schema.decodeUnknownOption(SupplierCodeField)
const accountNumber = Schema.decodeUnknownOption(AccountNumber)

/** How many accounts are looked up at once. Storage reads fewer if they are large. */
const lookedUpAtOnce = 100

const orUnavailable = <A>(stream: Stream.Stream<A, StorageUnavailable>) =>
  Stream.catchTag(stream, "StorageUnavailable", () => Stream.fail(unavailable))

const make = Effect.gen(function* () {
  const accounts = yield* Accounts
  const auditLog = yield* AuditLog
  const processes = yield* ImportProcesses
  const configuration = yield* Configuration
  const findSupplier = findOwnSupplier(configuration)

  const read = Effect.fnUntraced(function* (caller: Caller, named: string) {
    const number = accountNumber(named)
    if (Option.isNone(number)) return yield* new NotFound()
    const located = yield* accounts.locate(number.value)
    if (Option.isNone(located)) return yield* new NotFound()
    const supplier = yield* ownSupplier(configuration)(caller, located.value.import_supplier)
    if (Option.isNone(supplier)) return yield* new NotFound()
    const at = yield* DateTime.now
    yield* auditLog.recordRead({ key: located.value, action: "read_account", caller, at })
    const found = yield* Stream.runHead(accounts.read([number.value]))
    if (Option.isNone(found)) return yield* new NotFound()
    return orUnavailable(accountText(found.value))
  })

  const readAll = Effect.fnUntraced(function* (caller: Caller, named: string) {
    const supplier = yield* findSupplier(caller, supplierCode(named))
    if (Option.isNone(supplier)) return yield* new NotFound()
    const { code } = supplier.value
    const key = { import_supplier: code, external_account_number: null }
    const at = yield* DateTime.now
    yield* auditLog.recordRead({ key, action: "read_accounts", caller, at })
    const entries = processes.list({ supplier: code, kind: "imported", after: null, limit: null })
    const texts = entries.pipe(
      Stream.map(({ kraken_account_number: number }) => number),
      Stream.filter((number) => number !== null),
      Stream.grouped(lookedUpAtOnce),
      Stream.flatMap((numbers) => Stream.chunks(accounts.read(numbers))),
      Stream.flatMap(accountLines)
    )
    return orUnavailable(texts)
  })

  return AccountQuery.of({
    read: traced("AccountQuery.read")((caller, number) =>
      Effect.catchTag(read(caller, number), "StorageUnavailable", () => unavailable)
    ),
    readAll: traced("AccountQuery.readAll")((caller, supplier) =>
      Effect.catchTag(readAll(caller, supplier), "StorageUnavailable", () => unavailable)
    )
  })
})

export const layer = Layer.effect(AccountQuery, make)
