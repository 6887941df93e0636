/**
 * Runs the lines of a batch: each alone, or prepared to be stored together with others. Returns how
 * a line ended, or what it waits for.
 * Source: docs/contract/batches.md#work, docs/contract/batches.md#results.
 */
import { Cause, Effect, Option, Result } from "effect"
import type { Batch, BatchOperation, WaitingFor } from "./Batch.ts"
import { errorsOfLine, type EndedLine, type LinePostponed } from "./BatchLine.ts"
import type { LineImport, LineRevert } from "./Batches.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { dryRunSuccessful } from "../imports/ImportAttempt.ts"
import { ValidationFailed } from "../requests/Failure.ts"
import { endOf, LineErrored, type LineFailure, type LineResult } from "./LineResult.ts"
import {
  abandon,
  createdResult,
  type LineInHand,
  type LinePrograms,
  prepareProcess,
  prepareRevert,
  readSent,
  type Run,
  runAlone,
  succeeded
} from "./LineOperations.ts"

/** The line has ended, or is tried again later. */
export type LineRun =
  | { readonly _tag: "Ended"; readonly end: EndedLine }
  | {
      readonly _tag: "Postponed"
      readonly postponed: LinePostponed
      /** Null if it waits for its supplier or to be tried again. */
      readonly waitingFor: WaitingFor | null
    }

/** A line that is stored together with others of its chunk. */
export type PreparedLine =
  | {
      readonly _tag: "Import"
      readonly line: LineInHand
      readonly made: LineImport & { readonly end: EndedLine }
    }
  | { readonly _tag: "Revert"; readonly line: LineInHand; readonly revert: LineRevert }

/** How often a line is tried that meets an error of the service itself. */
const maxTries = 5

/** What the line waits for after a temporary failure; None if the line itself has failed. */
const waitingForOf = (failure: LineFailure): Option.Option<WaitingFor | null> => {
  switch (failure._tag) {
    case "ServiceUnavailable":
      return Option.some(failure.isDocumentStore === true ? "DOCUMENTS" : "DATABASE")
    case "PaymentVendorUnavailable":
      return Option.some("VENDOR")
    case "ConcurrencyLimitExceeded":
    case "ImportInProgress":
    case "IdempotencyKeyInUse":
      return Option.some("LIMIT")
    case "MigrationNotOngoing":
      return Option.some(null)
    default:
      return Option.none()
  }
}

/** The failure with at most `errorsOfLine` errors. */
const bounded = (failure: LineFailure): LineFailure =>
  failure._tag === "ValidationFailed" && failure.errors.length > errorsOfLine
    ? new ValidationFailed({
        code: failure.code,
        errors: failure.errors.slice(0, errorsOfLine),
        more: true
      })
    : failure

/** The result of a line with this failure. Some failures mean that nothing was left to do. */
export const resultOf = ({ settings }: Batch, failure: LineFailure): LineResult => {
  if (failure._tag === "DryRunSuccessful") return succeeded({ failure })
  if (failure._tag === "AlreadyImported") {
    const { accountNumber, isSame = settings.operation === "PROCESS" } = failure
    return isSame
      ? succeeded({ outcome: "ALREADY", accountNumber, failure })
      : succeeded({ outcome: "FAILED", accountNumber, failure })
  }
  return succeeded({ outcome: "FAILED", failure: bounded(failure) })
}

/** How a line ends that stages an account for the first time, or attempts what is staged. */
const resultOfImport = ({ batch }: Run, { attempt, key }: LineImport): LineResult => {
  if (attempt === null) return succeeded({ answer: { _tag: "Staged", isFirst: true } })
  const { dryRun, judgement } = attempt
  if (Result.isFailure(judgement)) return resultOf(batch, judgement.failure)
  const { success } = judgement
  return dryRun
    ? resultOf(batch, dryRunSuccessful(key, success))
    : createdResult({ kraken_account_number: success.number })
}

const importing =
  (run: Run) =>
  (made: LineImport | null): PreparedLine | null => {
    const { encode, line } = run
    if (made === null) return null
    const end = endOf(encode, line, resultOfImport(run, made))
    return { _tag: "Import", line, made: { ...made, end } }
  }

/** Whether the lines store nothing, so that many can run at once. */
const onlyValidates = ({ dryRun, operation }: Batch["settings"]): boolean =>
  operation === "VALIDATE" || (operation === "IMPORT" && dryRun)

/** How many bytes of payloads are processed together: those of a chunk of IMPORT. */
const bytesTogether = 1024 * 1024

/** Whether the payload of a line is processed with those of the others of its chunk. */
type Fits = (line: number, bytes: number) => boolean

const makeFits = (): Fits => {
  const sizes = new Map<number, number>()
  return (line, bytes) => {
    sizes.set(line, bytes)
    const fits = sizes.values().reduce((sum, each) => sum + each, 0) <= bytesTogether
    if (!fits) sizes.delete(line)
    return fits
  }
}

/** The line to store together with others, or null if it is to run alone. */
type Prepare = (
  run: Run,
  fits: Fits
) => Effect.Effect<LineRun | PreparedLine | null, LineFailure | StorageUnavailable>

const ended = (end: EndedLine): LineRun => ({ _tag: "Ended", end })

const prepareStaging: Prepare = Effect.fnUntraced(function* (run) {
  const { operation, operationsTeam } = run.batch.settings
  const { accountRequest, errors } = yield* readSent(run)
  const team = operation === "IMPORT" ? operationsTeam : null
  const made = yield* run.accountImport.prepareLine(run.caller, accountRequest, errors, team)
  return importing(run)(made)
})

const prepareProcessing: Prepare = (run, fits) =>
  readSent(run).pipe(
    Effect.flatMap((sent) => prepareProcess(run, sent, (bytes) => fits(run.line.line, bytes))),
    Effect.map(importing(run)),
    // Alone, so that its attempt records what is unavailable.
    Effect.catchTag("ServiceUnavailable", () => Effect.map(runAlone(run), ended))
  )

const prepareReverting: Prepare = (run) =>
  run.batch.settings.dryRun
    ? Effect.succeed(null)
    : readSent(run).pipe(
        Effect.flatMap((sent) => prepareRevert(run, sent)),
        Effect.map((revert): PreparedLine => ({ _tag: "Revert", line: run.line, revert }))
      )

/** The operations whose lines can be stored together. */
const preparations: Partial<Record<BatchOperation, Prepare>> = {
  STAGE: prepareStaging,
  IMPORT: prepareStaging,
  PROCESS: prepareProcessing,
  REVERT: prepareReverting
}

interface LineRunner {
  /** Runs the line by the program of the single endpoint. */
  readonly run: (line: LineInHand) => Effect.Effect<LineRun>
  /** Ends, without running it, a line with which every worker dies. */
  readonly abandon: (line: LineInHand) => Effect.Effect<LineRun>
  /**
   * Prepares a line to be stored together with others. Null if it must run alone. A line that is
   * refused, or that stores nothing, has ended.
   */
  readonly prepare: (line: LineInHand) => Effect.Effect<LineRun | PreparedLine | null>
}

/** Runs the lines of a batch on behalf of the caller who started it. */
export const makeLineRunner = (
  { encoderOf, ...programs }: LinePrograms,
  batch: Batch,
  caller: Caller,
  confirm: Run["confirm"]
): LineRunner => {
  const encode = encoderOf(batch.settings.operation)
  const fits = makeFits()
  const runOf = (line: LineInHand): Run => ({
    ...programs,
    encode,
    batch,
    caller,
    confirm,
    line
  })

  const refused = Effect.fnUntraced(function* (
    run: Run,
    cause: Cause.Cause<LineFailure | StorageUnavailable>
  ): Effect.fn.Return<LineRun> {
    const { line, tries } = run.line
    const failed = (failure: LineFailure): LineRun =>
      ended(endOf(encode, run.line, resultOf(run.batch, failure)))
    const postponed = (waitingFor: WaitingFor | null, isCounted = false): LineRun => ({
      _tag: "Postponed",
      postponed: { line, isCounted },
      waitingFor
    })
    const failure = Option.getOrNull(Cause.findErrorOption(cause))
    if (failure === null) {
      if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
      yield* Effect.logError("a line of a batch met an error", cause)
      return tries + 1 >= maxTries
        ? failed(new LineErrored({ requestId: caller.requestId }))
        : postponed(null, true)
    }
    if (failure._tag === "StorageUnavailable") return postponed("DATABASE")
    const waitingFor = waitingForOf(failure)
    return Option.isNone(waitingFor) ? failed(failure) : postponed(waitingFor.value)
  })

  const settled = <A>(
    run: Run,
    effect: Effect.Effect<A, LineFailure | StorageUnavailable>
  ): Effect.Effect<A | LineRun> => Effect.catchCause(effect, (cause) => refused(run, cause))

  const endedBy =
    (end: (run: Run) => ReturnType<typeof runAlone>) =>
    (line: LineInHand): Effect.Effect<LineRun> => {
      const run = runOf(line)
      return settled(run, Effect.map(end(run), ended))
    }
  const runLine = endedBy(runAlone)

  return {
    run: runLine,
    abandon: endedBy(abandon),
    prepare: (line) => {
      if (onlyValidates(batch.settings)) return runLine(line)
      const prepare = preparations[batch.settings.operation]
      if (prepare === undefined) return Effect.succeed(null)
      const run = runOf(line)
      return settled(run, prepare(run, fits))
    }
  }
}
