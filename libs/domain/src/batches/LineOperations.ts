/**
 * Runs a line of a batch with the program of the single endpoint. A write runs under an idempotency
 * key of the line. So a worker that takes over from a dead one gets the line's stored result, not
 * the answer to a repeated request.
 * Source: docs/contract/batches.md#operations, docs/contract/batches.md#retries.
 */
import { Duration, Effect, Option, Result } from "effect"
import { nothingAdded } from "../certificates/AccountEntry.ts"
import { sumsOf } from "../certificates/CertifiedSums.ts"
import type { Batch, BatchOperation } from "./Batch.ts"
import type { LineRevert } from "./Batches.ts"
import { type BatchLine, type EndedLine } from "./BatchLine.ts"
import type { AccountImport, StagedLine } from "../imports/AccountImport.ts"
import type { ProcessSettings } from "../imports/ImportProcessing.ts"
import type { Created } from "../imports/ImportAttempt.ts"
import type { AccountNumber } from "../accounts/Account.ts"
import type { NamedAccount } from "../imports/Revert.ts"
import type { ImportRevert, RevertAnswer } from "../imports/ImportRevert.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { wireCode } from "../suppliers/Supplier.ts"
import type { NoteResult } from "../additions/NoteImport.ts"
import type {
  InstructionCreated,
  PostImport,
  StatementsCreated,
  TransactionParameters
} from "../additions/PostImport.ts"
import type { TransactionResult } from "../additions/TransactionImport.ts"
import { DryRunSuccessful } from "../requests/Failure.ts"
import {
  Fingerprint,
  type ResponseRecorder,
  type KeyedRequest
} from "../idempotency/IdempotencyKey.ts"
import { storedEnd, storedText, keyOf } from "./LineKey.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import type { OnDifference } from "../schema/OnDifference.ts"
import { isObject, type NotJson } from "../schema/Json.ts"
import { parseBytesInSteps } from "../schema/JsonBytes.ts"
import { inTimeSlices, type Steps } from "../support/Steps.ts"
import type { IdempotentWrites } from "../idempotency/IdempotentWrites.ts"
import {
  endOf,
  LineErrored,
  type LineFailure,
  type LineResult,
  LineTooLong,
  type ResultEncoder
} from "./LineResult.ts"

export interface LinePrograms {
  readonly accountImport: AccountImport["Service"]
  readonly postImport: PostImport["Service"]
  readonly importRevert: ImportRevert["Service"]
  readonly writes: IdempotentWrites["Service"]
  readonly encoderOf: (operation: BatchOperation) => ResultEncoder
}

/** A line that a worker has in hand. `tries` counts those that ended in an error of the service. */
export type LineInHand = BatchLine & { readonly tries: number }

/** A line to run, with what it needs. */
export interface Run extends Omit<LinePrograms, "encoderOf"> {
  readonly encode: ResultEncoder
  readonly batch: Batch
  readonly caller: Caller
  readonly line: LineInHand
  /**
   * Fails if another worker may have the line by now. It is called while the key of a step is
   * reserved: the other worker takes the key over, or deletes it, so this one can store nothing.
   */
  readonly confirm: Effect.Effect<void, StorageUnavailable>
}

export const succeeded = (more: Partial<LineResult> = {}): LineResult => ({
  outcome: "SUCCEEDED",
  accountNumber: null,
  answer: null,
  failure: null,
  ...more
})

/** The key names one line, so the same key is always the same request. */
const fingerprint = Fingerprint.make("0".repeat(64))

/** Longer than any batch that is looked after stays unfinished. */
const keptFor = Duration.days(400)

const requestOf = ({ batch, line }: Run, step: "stage" | "end"): KeyedRequest => ({
  key: keyOf(batch.id, line.line, step),
  organisation: batch.organisation,
  fingerprint,
  keptFor,
  // The worker that has the line in hand may run it at once: the one before is dead.
  lease: Duration.zero
})

/** Runs a write once, however often the line is run. Returns the end of the line. */
const once = Effect.fnUntraced(function* <A>(
  run: Run,
  toResult: (answer: A) => LineResult,
  write: (recorder: ResponseRecorder<A>) => Effect.Effect<A, LineFailure>
) {
  const end = (answer: A) => endOf(run.encode, run.line, toResult(answer))
  const textOf = function* (answer: A) {
    return storedText(end(answer))
  }
  const written = yield* run.writes.run(requestOf(run, "end"), textOf, (recorder) =>
    Effect.andThen(run.confirm, write(recorder))
  )
  if (written._tag === "Fresh") return end(written.answer)
  const { externalAccountNumber, line } = run.line
  return { line, externalAccountNumber, ...storedEnd(written.text), problems: [] }
})

/** What a line sends, and what is wrong with the supplier that it names. */
interface Sent {
  readonly body: unknown
  /** The body of the endpoint that validates or stages the account of the line. */
  readonly accountRequest: unknown
  readonly errors: ReadonlyArray<FieldError>
}

const otherSupplier = {
  attr: "import_supplier",
  code: "invalid",
  detail: "Must be the supplier of the batch, or be left out."
} as const satisfies FieldError

/** An account may be wrapped like the endpoint's body, to have a cohort beside it. */
const isWrapped = ({ settings }: Batch, line: unknown): line is { readonly payload: unknown } =>
  /^(VALIDATE|STAGE|IMPORT)$/.test(settings.operation) &&
  isObject(line) &&
  Object.hasOwn(line, "payload")

const sentOf = (batch: Batch, line: unknown): Sent => {
  const supplier = wireCode(batch.settings.supplier)
  const named = isWrapped(batch, line) ? line.payload : line
  const body = isObject(named) ? { ...named, import_supplier: supplier } : named
  const { import_supplier = supplier } = isObject(named) ? named : {}
  return {
    body,
    accountRequest: isWrapped(batch, line) ? { ...line, payload: body } : { payload: body },
    errors: import_supplier === supplier ? [] : [otherSupplier]
  }
}

/** Lines are only run of a batch that was started. */
const startOf = ({ started }: Batch) => Option.getOrThrow(Option.fromNullishOr(started)).at

const stageLine = (
  { accountImport, batch, caller }: Run,
  sent: Sent,
  recorder: ResponseRecorder<StagedLine>
) =>
  accountImport.stageLine(caller, sent.accountRequest, recorder, sent.errors, {
    cohort: batch.settings.cohort,
    since: startOf(batch)
  })

const stage = (run: Run, sent: Sent) =>
  once<StagedLine>(
    run,
    ({ first, isSame }) =>
      succeeded({
        outcome: isSame ? "ALREADY" : "SUCCEEDED",
        answer: { _tag: "Staged", isFirst: first }
      }),
    (recorder) => stageLine(run, sent, recorder)
  )

const nameIn = ({
  external_account_number,
  import_supplier
}: Readonly<Record<string, unknown>>) => ({
  external_account_number,
  import_supplier
})

/** A batch that processes has a team. */
const processSettings = (batch: Batch): ProcessSettings => ({
  operationsTeam: Option.getOrThrow(Option.fromNullishOr(batch.settings.operationsTeam)),
  dryRun: batch.settings.dryRun,
  since: startOf(batch)
})

export const createdResult = ({ kraken_account_number }: Created): LineResult =>
  succeeded({ accountNumber: kraken_account_number })

/** Processes what is staged for the number of the line. A dry run may run again: it needs no key. */
const process = (run: Run, { body: payload, errors }: Pick<Sent, "body" | "errors">) => {
  const settings = processSettings(run.batch)
  const processing = (recorder: ResponseRecorder<Created> | null) =>
    run.accountImport.processLine(run.caller, { payload }, settings, recorder, errors)
  return settings.dryRun
    ? Effect.map(processing(null), (created) => endOf(run.encode, run.line, createdResult(created)))
    : once<Created>(run, createdResult, processing)
}

/** The attempt that the line makes, as a part of the step that ends the lines of a chunk. */
export const prepareProcess = (
  { accountImport, batch, caller }: Run,
  { body: payload, errors }: Sent,
  fits: (bytes: number) => boolean
) => accountImport.prepareProcessLine(caller, { payload }, processSettings(batch), errors, fits)

/**
 * Stages the line once, under a key of its own. The response kept under it is the end of the line
 * if the batch is cancelled before the line is processed.
 */
const stageFirst = (run: Run, sent: Sent) => {
  const textOf = function* ({ first: isFirst }: StagedLine) {
    const result = succeeded({ outcome: "CANCELLED", answer: { _tag: "Staged", isFirst } })
    return storedText(endOf(run.encode, run.line, result))
  }
  return run.writes.run(requestOf(run, "stage"), textOf, (recorder) =>
    Effect.andThen(run.confirm, stageLine(run, sent, recorder))
  )
}

const importLine = Effect.fnUntraced(function* (run: Run, sent: Sent) {
  if (run.batch.settings.dryRun) {
    const { operationsTeam } = processSettings(run.batch)
    const { account, judged } = yield* run.accountImport.rehearseLine(
      run.caller,
      sent.accountRequest,
      sent.errors,
      operationsTeam
    )
    const { external_account_number } = account
    const key = { import_supplier: run.batch.settings.supplier, external_account_number }
    const failure = new DryRunSuccessful({ key, sums: sumsOf(account, nothingAdded) })
    return { ...endOf(run.encode, run.line, succeeded({ failure })), judged }
  }
  yield* stageFirst(run, sent)
  return yield* process(run, { body: isObject(sent.body) && nameIn(sent.body), errors: [] })
})

/** A line that changes nothing although it differs would be reported as a success. */
const onDifference = ({ parameters }: Batch["settings"]): OnDifference =>
  parameters.on_difference ?? "fail"

const parametersOf = (settings: Batch["settings"]): TransactionParameters => ({
  onDifference: onDifference(settings),
  checkPreviouslyAdded: settings.parameters.check_previously_added ?? true,
  forceAddToCurrentStatement: settings.parameters.force_add_to_current_statement ?? true
})

const checked = <A>(errors: Sent["errors"], parameters: A) =>
  errors.length > 0 ? Result.fail(errors) : Result.succeed(parameters)

/** Whether an item existed with the content that was sent. */
const isThere = ({ differs = false, status }: NoteResult | TransactionResult): boolean =>
  !differs && status.endsWith("_ALREADY_EXISTS")

const outcomeOf = (isNew: boolean) => ({ outcome: isNew ? "SUCCEEDED" : "ALREADY" }) as const

/** The result of a line that names this account; null if it was reverted before. */
const revertedResult = (accountNumber: AccountNumber, account: NamedAccount | null): LineResult =>
  succeeded({
    ...outcomeOf(account !== null),
    accountNumber,
    answer: { _tag: "Reverted", ended: account?.active ? [account.active] : [] }
  })

/** A batch that reverts says why. */
const revertSettings = ({ dryRun, revert }: Batch["settings"]) => ({
  dryRun,
  ...Option.getOrThrow(Option.fromNullishOr(revert))
})

/** Reverts the account that the line names. */
const revert = (run: Run, { body, errors }: Sent) =>
  once<RevertAnswer>(
    run,
    ({ account, payload }) => revertedResult(payload.kraken_account_number, account),
    (recorder) => {
      const options = revertSettings(run.batch.settings)
      return run.importRevert.revertLine(run.caller, body, options, recorder, errors)
    }
  )

/** The same as a part of the step that ends the lines of a chunk. */
export const prepareRevert = Effect.fnUntraced(function* (run: Run, { body, errors }: Sent) {
  const options = revertSettings(run.batch.settings)
  const order = yield* run.importRevert.prepareLine(run.caller, body, options, errors)
  return {
    ...order,
    line: run.line.line,
    endOf: (account: NamedAccount) =>
      endOf(run.encode, run.line, revertedResult(order.number, account))
  } satisfies LineRevert
})

const operations: Readonly<
  Record<
    Batch["settings"]["operation"],
    (run: Run, sent: Sent) => Effect.Effect<EndedLine, LineFailure | StorageUnavailable>
  >
> = {
  VALIDATE: (run, sent) =>
    Effect.as(
      run.accountImport.validate(run.caller, sent.accountRequest, sent.errors),
      endOf(run.encode, run.line, succeeded())
    ),
  STAGE: stage,
  IMPORT: importLine,
  PROCESS: process,
  NOTES: (run, { body, errors }) =>
    once<ReadonlyArray<NoteResult>>(
      run,
      (results) =>
        succeeded({
          ...outcomeOf(!results.every(isThere)),
          answer: { _tag: "Notes", results }
        }),
      (recorder) =>
        run.postImport.createNotes(
          run.caller,
          body,
          checked(errors, { onDifference: onDifference(run.batch.settings) }),
          recorder
        )
    ),
  TRANSACTIONS: (run, { body, errors }) =>
    once<ReadonlyArray<TransactionResult>>(
      run,
      (results) =>
        succeeded({
          ...outcomeOf(!results.every(isThere)),
          answer: { _tag: "Transactions", results }
        }),
      (recorder) =>
        run.postImport.createTransactions(
          run.caller,
          body,
          checked(errors, parametersOf(run.batch.settings)),
          recorder
        )
    ),
  STATEMENTS: (run, { body, errors }) =>
    once<StatementsCreated>(
      run,
      ({ isNew }) => succeeded(outcomeOf(isNew)),
      (recorder) => run.postImport.createStatements(run.caller, body, recorder, errors)
    ),
  PAYMENT_INSTRUCTIONS: (run, { body, errors }) =>
    once<InstructionCreated>(
      run,
      ({ isNew, kraken_account_number }) =>
        succeeded({ ...outcomeOf(isNew), accountNumber: kraken_account_number }),
      (recorder) => run.postImport.createPaymentInstruction(run.caller, body, recorder, errors)
    ),
  REVERT: revert
}

/** Ends a line with which every worker dies: with a result that one has stored, or as an error. */
export const abandon = (run: Run) => {
  const { requestId } = run.caller
  return once<never>(run, succeeded, () => Effect.fail(new LineErrored({ requestId })))
}

/** Reads a line of the batch. A body that is no object gets the endpoint's error. */
export function* readSentInSteps(
  batch: Batch,
  bytes: BatchLine["bytes"]
): Steps<Result.Result<Sent, LineTooLong | NotJson>> {
  if (bytes === null) return Result.fail(new LineTooLong())
  return Result.map(yield* parseBytesInSteps(bytes), (line) => sentOf(batch, line))
}

export const readSent = ({ batch, line }: Run) =>
  Effect.flatMap(
    inTimeSlices(() => readSentInSteps(batch, line.bytes)),
    Effect.fromResult
  )

export const runAlone = (run: Run) =>
  Effect.flatMap(readSent(run), (sent) => operations[run.batch.settings.operation](run, sent))
