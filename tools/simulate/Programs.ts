/**
 * The programs of the domain on ports that wait for their turns, and what a request is to them: one
 * call of one program, and its outcome reduced to what a client can tell apart.
 */
import {
  Cause,
  ConfigProvider,
  DateTime,
  Effect,
  Exit,
  Layer,
  Option,
  Result,
  Stream
} from "effect"
import * as AccountImport from "@data-import/domain/AccountImport"
import { utc } from "@data-import/domain/BusinessDay"
import { formatInstant } from "@data-import/domain/Field"
import type { Failure } from "@data-import/domain/Failure"
import * as ImportQuery from "@data-import/domain/ImportQuery"
import * as PostImport from "@data-import/domain/PostImport"
import { Accounts } from "@data-import/domain/ports/Accounts"
import { Documents, DocumentsUnavailable } from "@data-import/domain/ports/Documents"
import { History } from "@data-import/domain/ports/History"
import { type ImportListEntry, ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { layerMemory as documentsIn } from "@data-import/domain/ports/memory/Documents"
import { layerMemory as vendors } from "@data-import/domain/ports/memory/PaymentVendor"
import {
  type AlreadyExists,
  type DoesNotExist,
  OperatorSetup
} from "@data-import/domain/ports/OperatorSetup"
import { PaymentVendor, VendorUnavailable } from "@data-import/domain/ports/PaymentVendor"
import type { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import { changeStatus, type Supplier } from "@data-import/domain/Supplier"
import type { Answer, Asked, Order } from "./Request.ts"
import type { Storage } from "./Storage.ts"
import { timeZones } from "./Traffic.ts"
import type { Desk } from "./Turns.ts"

export interface Programs {
  readonly accountImport: AccountImport.AccountImport["Service"]
  readonly postImport: PostImport.PostImport["Service"]
  readonly query: ImportQuery.ImportQuery["Service"]
  /** The storage as the programs see it: the operator works on it directly. */
  readonly storage: Storage
}

interface Settings {
  readonly desk: Desk
  readonly storage: Storage
  /** "root/path" of every document that exists. */
  readonly files: ReadonlyMap<string, number>
  readonly deploymentLimit: number | null
}

/** The programs on guarded ports, as a service process makes them. */
export const programsOn = Effect.fnUntraced(function* (settings: Settings) {
  const { desk, storage } = settings
  const guarded: Storage = {
    imports: desk.guard(ImportProcesses, storage.imports),
    accounts: desk.guard(Accounts, storage.accounts),
    history: desk.guard(History, storage.history),
    setup: desk.guard(OperatorSetup, storage.setup),
    payload: storage.payload
  }
  const documents = yield* Effect.provide(Documents, documentsIn(settings.files), { local: true })
  const vendor = yield* Effect.provide(PaymentVendor, vendors, { local: true })
  const ports = Layer.mergeAll(
    Layer.succeed(ImportProcesses, guarded.imports),
    Layer.succeed(Accounts, guarded.accounts),
    Layer.succeed(History, guarded.history),
    Layer.succeed(OperatorSetup, guarded.setup),
    Layer.succeed(
      Documents,
      desk.guard(Documents, documents, () => new DocumentsUnavailable({}))
    ),
    Layer.succeed(
      PaymentVendor,
      desk.guard(PaymentVendor, vendor, () => new VendorUnavailable({}))
    )
  )
  const environment = ConfigProvider.fromUnknown(
    settings.deploymentLimit === null ? {} : { CONCURRENCY_LIMIT: settings.deploymentLimit }
  )
  return yield* Effect.gen(function* () {
    const programs: Programs = {
      accountImport: yield* AccountImport.AccountImport,
      postImport: yield* PostImport.PostImport,
      query: yield* ImportQuery.ImportQuery,
      storage: guarded
    }
    return programs
  }).pipe(
    Effect.provide(
      Layer.mergeAll(AccountImport.layer, PostImport.layer, ImportQuery.layer).pipe(
        Layer.provide(ports),
        Layer.provide(ConfigProvider.layer(environment))
      ),
      { local: true }
    ),
    Effect.orDie
  )
})

/** One line of a list as text. */
export const entryLine = (entry: ImportListEntry): string => {
  const { account_created_at, external_account_number, kraken_account_number } = entry
  const since = account_created_at === null ? "-" : formatInstant(account_created_at)
  return `${external_account_number} ${kraken_account_number ?? "-"} ${since}`
}

const listed = (list: ImportQuery.ImportList) =>
  list._tag === "Page"
    ? Effect.succeed({ entries: list.entries, next: list.nextAfter })
    : Effect.map(Stream.runCollect(list.entries), (entries) => ({ entries, next: null }))

/** A new supplier as this simulation sets them up: Ongoing, its documents checked. */
export const supplierOf = (
  code: Supplier["code"],
  organisation: Supplier["organisation"]
): Supplier => ({
  code,
  organisation,
  status: "Ongoing",
  documentRoot: code,
  documentCheck: true,
  customerEmails: false,
  concurrencyLimit: null,
  timeZone: timeZones.get(code) ?? utc
})

type Unsuccessful = Failure | StorageUnavailable | AlreadyExists | DoesNotExist | Refusal

/** What the operator is refused. */
class Refusal {
  readonly _tag = "Refusal"
  readonly code: string
  constructor(code: string) {
    this.code = code
  }
}

const process = ({ accountImport }: Programs, asked: Asked, order: Order<"process">) => {
  const { dryRun, key, team } = order
  const payload = { ...key, operations_team_name: team, ...(dryRun ? { dry_run: true } : {}) }
  return Effect.map(
    accountImport.process(asked.caller, { payload }),
    (created) => created.kraken_account_number
  )
}

const createTransactions = ({ postImport }: Programs, asked: Asked, order: Order<"transactions">) =>
  postImport
    .createTransactions(
      asked.caller,
      { ...order.key, transactions: order.transactions },
      Result.succeed({
        checkPreviouslyAdded: order.check,
        forceAddToCurrentStatement: order.force
      })
    )
    .pipe(
      Effect.map((results) =>
        results
          .map(({ status, transaction }) => `${status} ${transaction.transaction_date}`)
          .join(", ")
      )
    )

const createNotes = ({ postImport }: Programs, asked: Asked, order: Order<"notes">) =>
  Effect.map(
    postImport.createNotes(asked.caller, { ...order.key, notes: order.notes }),
    (results) =>
      results.map(({ created_at, status }) => `${status} ${formatInstant(created_at)}`).join(", ")
  )

const setStatus = ({ storage }: Programs, { reopen, supplier, to }: Order<"setStatus">) =>
  storage.setup
    .changeSupplierStatus(supplier, (present) =>
      Result.mapError(changeStatus(present, to, reopen), () => new Refusal("refused"))
    )
    .pipe(Effect.map(({ status }) => status))

const list = ({ query }: Programs, asked: Asked, order: Order<"list">) =>
  query
    .list(asked.caller, order.supplier, order.list, { limit: order.limit, after: order.after })
    .pipe(
      Effect.flatMap(listed),
      Effect.map(({ entries, next }) =>
        [...entries.map(entryLine), `next ${next ?? "-"}`].join("\n")
      )
    )

/** What an order is to the programs; `said` of the answer. */
const said = (programs: Programs, asked: Asked): Effect.Effect<string, Unsuccessful> => {
  const { accountImport, postImport, query, storage } = programs
  const { caller, order } = asked
  switch (order.kind) {
    case "validate":
      return Effect.as(accountImport.validate(caller, { payload: order.payload }), "valid")
    case "stage":
      return Effect.map(accountImport.stage(caller, { payload: order.payload }), ({ first }) =>
        first ? "first" : "again"
      )
    case "process":
      return process(programs, asked, order)
    case "notes":
      return createNotes(programs, asked, order)
    case "transactions":
      return createTransactions(programs, asked, order)
    case "statements": {
      const body = { ...order.key, statements: order.statements }
      return Effect.as(postImport.createStatements(caller, body), "")
    }
    case "instruction":
      return Effect.map(
        postImport.createPaymentInstruction(caller, { ...order.key, ...order.instruction }),
        (created) => created.kraken_account_number
      )
    case "status":
      return Effect.map(
        query.status(caller, order.key.import_supplier, order.key.external_account_number),
        ({ kraken_account_number, status }) => `${status} ${kraken_account_number}`
      )
    case "list":
      return list(programs, asked, order)
    case "skip":
      return Effect.flatMap(DateTime.now, (at) =>
        storage.imports.setSkipped({ key: order.key, skipped: order.skipped, at })
      ).pipe(
        Effect.flatMap((set) =>
          set._tag === "Set"
            ? Effect.succeed("set")
            : Effect.fail(new Refusal(set.found?._tag ?? "None"))
        )
      )
    case "setStatus":
      return setStatus(programs, order)
    case "createSupplier":
      return Effect.as(
        storage.setup.createSupplier(supplierOf(order.supplier, order.organisation)),
        "created"
      )
  }
}

const codeOf = (failure: Unsuccessful): Answer => {
  if (failure._tag === "StorageUnavailable") return { code: "service_unavailable", said: "" }
  if (!("code" in failure)) return { code: failure._tag, said: "" }
  if (failure._tag === "ValidationFailed") {
    const errors = failure.errors.map(({ attr, code }) => `${attr}:${code}`)
    return { code: failure.code, said: errors.join(" ") }
  }
  const number = failure._tag === "AlreadyImported" ? failure.accountNumber : ""
  return { code: failure.code, said: number }
}

/** Runs the request; a defect is the code `error`, as it is to a client. */
export const answerOf = (programs: Programs, asked: Asked): Effect.Effect<Answer> =>
  Effect.map(Effect.exit(said(programs, asked)), (exit): Answer => {
    if (Exit.isSuccess(exit)) return { code: "ok", said: exit.value }
    const failure = Cause.findErrorOption(exit.cause)
    return Option.isSome(failure)
      ? codeOf(failure.value)
      : { code: "error", said: String(Cause.squash(exit.cause)) }
  })
