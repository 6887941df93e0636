/**
 * The programs of the domain on scheduled ports. A request is one call of one program, and its
 * outcome is reduced to what a client can distinguish.
 */
import { Cause, ConfigProvider, Effect, Exit, Layer, Option, Result, Stream } from "effect"
import * as AccountImport from "@data-import/domain/imports/AccountImport"
import type { Created } from "@data-import/domain/imports/ImportAttempt"
import * as BatchManagement from "@data-import/domain/batches/BatchManagement"
import * as BatchUpload from "@data-import/domain/batches/BatchUpload"
import { formatInstant } from "@data-import/domain/schema/Field"
import type { Failure } from "@data-import/domain/requests/Failure"
import type { ResponseRecorder } from "@data-import/domain/idempotency/IdempotencyKey"
import * as IdempotentWrites from "@data-import/domain/idempotency/IdempotentWrites"
import * as ImportQuery from "@data-import/domain/imports/ImportQuery"
import type { NoteResult } from "@data-import/domain/additions/NoteImport"
import * as PostImport from "@data-import/domain/additions/PostImport"
import * as ImportRevert from "@data-import/domain/imports/ImportRevert"
import { Reverts } from "@data-import/domain/imports/Reverts"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { Batches } from "@data-import/domain/batches/Batches"
import { Documents, DocumentsUnavailable } from "@data-import/domain/documents/Documents"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { IdempotencyKeys } from "@data-import/domain/idempotency/IdempotencyKeys"
import { type ImportListEntry, ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { layerMemory as documentsIn } from "@data-import/domain/testing/memory/Documents"
import { layerMemory as hashing } from "@data-import/domain/testing/memory/Hashing"
import { layerMemory as vendors } from "@data-import/domain/testing/memory/PaymentVendor"
import {
  type AlreadyExists,
  type DocumentRootTaken,
  type DoesNotExist,
  Configuration
} from "@data-import/domain/suppliers/Configuration"
import { PaymentVendor, VendorUnavailable } from "@data-import/domain/payments/PaymentVendor"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import type { TransactionResult } from "@data-import/domain/additions/TransactionImport"
import { inOneStep } from "@data-import/domain/testing/keyedRequests"
import { type ChunkSession, guardBatches } from "./ChunkSessions.ts"
import { revertMessage } from "./Output.ts"
import { commanded } from "./OperatorCommands.ts"
import type { Answer, SentRequest, Order } from "./Request.ts"
import type { Storage } from "./Storage.ts"
import type { CallScheduler } from "./CallScheduler.ts"

export interface Programs {
  readonly accountImport: AccountImport.AccountImport["Service"]
  readonly postImport: PostImport.PostImport["Service"]
  readonly importRevert: ImportRevert.ImportRevert["Service"]
  readonly query: ImportQuery.ImportQuery["Service"]
  readonly writes: IdempotentWrites.IdempotentWrites["Service"]
  readonly batches: BatchManagement.BatchManagement["Service"]
  readonly upload: BatchUpload.BatchUpload["Service"]
  /** The storage that the programs use. The operator works on it directly. */
  readonly storage: Storage
}

interface Settings {
  readonly scheduler: CallScheduler
  readonly storage: Storage
  /** "root/path" of every document that exists. */
  readonly files: ReadonlyMap<string, number>
  readonly deploymentLimit: number | null
  /** The sessions in which workers hold lines are added here. */
  readonly sessions: Array<ChunkSession>
}

/** The programs on guarded ports, as a service process makes them. */
export const programsOn = Effect.fnUntraced(function* (settings: Settings) {
  const { scheduler, storage } = settings
  const guarded: Storage = {
    imports: scheduler.guard(ImportProcesses, storage.imports),
    accounts: scheduler.guard(Accounts, storage.accounts),
    reverts: scheduler.guard(Reverts, storage.reverts),
    auditLog: scheduler.guard(AuditLog, storage.auditLog),
    configuration: scheduler.guard(Configuration, storage.configuration),
    keys: scheduler.guard(IdempotencyKeys, storage.keys),
    batches: guardBatches(scheduler, storage, settings.sessions),
    payload: storage.payload
  }
  const documents = yield* Effect.provide(Documents, documentsIn(settings.files), { local: true })
  const vendor = yield* Effect.provide(PaymentVendor, vendors, { local: true })
  const ports = Layer.mergeAll(
    Layer.succeed(ImportProcesses, guarded.imports),
    Layer.succeed(Accounts, guarded.accounts),
    Layer.succeed(Reverts, guarded.reverts),
    Layer.succeed(AuditLog, guarded.auditLog),
    Layer.succeed(Configuration, guarded.configuration),
    Layer.succeed(IdempotencyKeys, guarded.keys),
    Layer.succeed(Batches, guarded.batches),
    hashing,
    Layer.succeed(
      Documents,
      scheduler.guard(Documents, documents, () => new DocumentsUnavailable({}))
    ),
    Layer.succeed(
      PaymentVendor,
      scheduler.guard(PaymentVendor, vendor, () => new VendorUnavailable({}))
    )
  )
  const environment = ConfigProvider.fromUnknown(
    settings.deploymentLimit === null ? {} : { CONCURRENCY_LIMIT: settings.deploymentLimit }
  )
  return yield* Effect.gen(function* () {
    const programs: Programs = {
      accountImport: yield* AccountImport.AccountImport,
      postImport: yield* PostImport.PostImport,
      importRevert: yield* ImportRevert.ImportRevert,
      query: yield* ImportQuery.ImportQuery,
      writes: yield* IdempotentWrites.IdempotentWrites,
      batches: yield* BatchManagement.BatchManagement,
      upload: yield* BatchUpload.BatchUpload,
      storage: guarded
    }
    return programs
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        AccountImport.layer,
        PostImport.layer,
        ImportRevert.layer,
        ImportQuery.layer,
        IdempotentWrites.layer,
        BatchManagement.layer,
        BatchUpload.layer
      ).pipe(Layer.provide(ports), Layer.provide(ConfigProvider.layer(environment))),
      { local: true }
    ),
    Effect.orDie
  )
})

/** One line of a list as text. */
const entryLine = (entry: ImportListEntry): string => {
  const { account_created_at, external_account_number, kraken_account_number } = entry
  const since = account_created_at === null ? "-" : formatInstant(account_created_at)
  return `${external_account_number} ${kraken_account_number ?? "-"} ${since}`
}

const listed = (list: ImportQuery.ImportList) =>
  list._tag === "Page"
    ? Effect.succeed({ entries: list.entries, next: list.nextAfter })
    : Effect.map(Stream.runCollect(list.entries), (entries) => ({ entries, next: null }))

type Unsuccessful =
  | Failure
  | StorageUnavailable
  | AlreadyExists
  | DoesNotExist
  | DocumentRootTaken
  | Effect.Error<ReturnType<typeof commanded>>

const success = (message: string): Answer => ({ code: "ok", message })

/** Runs a write, with its key if the request has one; `say` makes the message. */
export const written = <A>(
  { writes }: Programs,
  { keyed }: SentRequest,
  run: (recorder: ResponseRecorder<A> | null) => Effect.Effect<A, Failure>,
  say: (answer: A) => string
): Effect.Effect<Answer, Unsuccessful> =>
  keyed === null
    ? Effect.map(run(null), (answer) => success(say(answer)))
    : Effect.map(writes.run(keyed, inOneStep(say), run), (done) =>
        done._tag === "Fresh"
          ? success(say(done.answer))
          : { ...success(done.text), replayed: true as const }
      )

const stage = (programs: Programs, asked: SentRequest, { payload }: Order<"stage">) =>
  written<AccountImport.Staged>(
    programs,
    asked,
    (recorder) => programs.accountImport.stage(asked.caller, { payload }, recorder),
    ({ first }) => (first ? "first" : "again")
  )

const process = (
  programs: Programs,
  asked: SentRequest,
  { dryRun, key, team }: Order<"process">
) => {
  const payload = { ...key, operations_team_name: team, ...(dryRun ? { dry_run: true } : {}) }
  return written<Created>(
    programs,
    asked,
    (recorder) => programs.accountImport.process(asked.caller, { payload }, recorder),
    (created) => created.kraken_account_number
  )
}

const createTransactions = (
  programs: Programs,
  asked: SentRequest,
  order: Order<"transactions">
) => {
  const { check, force, key, transactions } = order
  const parameters = {
    checkPreviouslyAdded: check,
    forceAddToCurrentStatement: force,
    onDifference: "keep" as const
  }
  const body = { ...key, transactions }
  return written<ReadonlyArray<TransactionResult>>(
    programs,
    asked,
    (recorder) =>
      programs.postImport.createTransactions(
        asked.caller,
        body,
        Result.succeed(parameters),
        recorder
      ),
    (results) =>
      results
        .map(({ status, transaction }) => `${status} ${transaction.transaction_date}`)
        .join(", ")
  )
}

const keepingDifferences = Result.succeed({ onDifference: "keep" as const })

const createNotes = (programs: Programs, asked: SentRequest, { key, notes }: Order<"notes">) =>
  written<ReadonlyArray<NoteResult>>(
    programs,
    asked,
    (recorder) =>
      programs.postImport.createNotes(
        asked.caller,
        { ...key, notes },
        keepingDifferences,
        recorder
      ),
    (results) =>
      results.map(({ created_at, status }) => `${status} ${formatInstant(created_at)}`).join(", ")
  )

const createStatements = (programs: Programs, asked: SentRequest, order: Order<"statements">) => {
  const body = { ...order.key, statements: order.statements }
  return written<PostImport.StatementsCreated>(
    programs,
    asked,
    (recorder) => programs.postImport.createStatements(asked.caller, body, recorder),
    ({ request: { statements } }) => statements.map(({ statement_id }) => statement_id).join(", ")
  )
}

const createInstruction = (programs: Programs, asked: SentRequest, order: Order<"instruction">) => {
  const body = { ...order.key, ...order.instruction }
  return written<PostImport.InstructionCreated>(
    programs,
    asked,
    (recorder) => programs.postImport.createPaymentInstruction(asked.caller, body, recorder),
    (created) => created.kraken_account_number
  )
}

const revert = (programs: Programs, asked: SentRequest, order: Order<"revert">) => {
  const { dryRun, key, number, withAdditions } = order
  const payload = {
    kraken_account_number: number,
    reason: "The balances had the wrong sign.",
    with_additions: withAdditions,
    dry_run: dryRun
  }
  return written<ImportRevert.RevertAnswer>(
    programs,
    asked,
    (recorder) => programs.importRevert.revert(asked.caller, key, { payload }, recorder),
    ({ account }) => revertMessage(account !== null, number)
  )
}

const list = ({ query }: Programs, asked: SentRequest, order: Order<"list">) =>
  query
    .list(asked.caller, order.supplier, order.list, { limit: order.limit, after: order.after })
    .pipe(
      Effect.flatMap(listed),
      Effect.map(({ entries, next }) =>
        [...entries.map(entryLine), `next ${next ?? "-"}`].join("\n")
      )
    )

/** Runs an order that is not a write of a client; returns the `message` of the answer. */
const messageOf = (
  programs: Programs,
  asked: SentRequest,
  order: Order<
    "validate" | "status" | "list" | "skip" | "setStatus" | "setWindow" | "createSupplier"
  >
): Effect.Effect<string, Unsuccessful> => {
  const { accountImport, query, storage } = programs
  const { caller } = asked
  switch (order.kind) {
    case "validate":
      return Effect.as(accountImport.validate(caller, { payload: order.payload }), "valid")
    case "status":
      return Effect.map(
        query.status(caller, order.key.import_supplier, order.key.external_account_number),
        ({ kraken_account_number, status }) => `${status} ${kraken_account_number}`
      )
    case "list":
      return list(programs, asked, order)
    default:
      return commanded(storage, order)
  }
}

/** Runs an order with the programs. */
const successOf = (programs: Programs, asked: SentRequest): Effect.Effect<Answer, Unsuccessful> => {
  const { order } = asked
  switch (order.kind) {
    case "stage":
      return stage(programs, asked, order)
    case "process":
      return process(programs, asked, order)
    case "notes":
      return createNotes(programs, asked, order)
    case "transactions":
      return createTransactions(programs, asked, order)
    case "statements":
      return createStatements(programs, asked, order)
    case "instruction":
      return createInstruction(programs, asked, order)
    case "revert":
      return revert(programs, asked, order)
    case "batch":
    case "work":
      return Effect.die(new Error("It is about a batch, and not about an import"))
    default:
      return Effect.map(messageOf(programs, asked, order), success)
  }
}

const codeOf = (failure: Unsuccessful): Answer => {
  if (failure._tag === "StorageUnavailable") return { code: "service_unavailable", message: "" }
  if (!("code" in failure)) return { code: failure._tag, message: "" }
  if (failure._tag === "ValidationFailed") {
    const errors = failure.errors.map(({ attr, code }) => `${attr}:${code}`)
    return { code: failure.code, message: errors.join(" ") }
  }
  const number = failure._tag === "AlreadyImported" ? failure.accountNumber : ""
  return { code: failure.code, message: number }
}

/** Runs the request; a defect is the code `error`, as it is to a client. */
export const answerOf = (programs: Programs, asked: SentRequest): Effect.Effect<Answer> =>
  reduced(successOf(programs, asked))

/** The answer as the client of a request gets it. */
export const reduced = (request: Effect.Effect<Answer, unknown>): Effect.Effect<Answer> =>
  Effect.map(Effect.exit(request), (exit): Answer => {
    if (Exit.isSuccess(exit)) return exit.value
    const failure = Cause.findErrorOption(exit.cause)
    return Option.isSome(failure)
      ? codeOf(failure.value as Unsuccessful)
      : { code: "error", message: String(Cause.squash(exit.cause)) }
  })
