/**
 * Runs the lines of a batch: each alone, or prepared to be stored together with others. Returns how
 * a line ended, or what it waits for.
 * Source: docs/contract/batches.md#work, docs/contract/batches.md#results.
 */
import { Cause, Effect, Option } from "effect"
import type { Batch, WaitingFor } from "./Batch.ts"
import { errorsOfLine, type LineEnd, type LinePostponed } from "./BatchLine.ts"
import type { LineRevert, NewImport } from "./Batches.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { ValidationFailed } from "../requests/Failure.ts"
import { endOf, LineErrored, type LineFailure, type LineResult } from "./LineResult.ts"
import {
  abandon,
  type LineInHand,
  type LinePrograms,
  prepareRevert,
  readSent,
  type Run,
  runAlone,
  succeeded
} from "./LineOperations.ts"

/** The line has ended, or is tried again later. */
export type LineRun =
  | { readonly _tag: "Ended"; readonly end: LineEnd }
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
      readonly made: NewImport & { readonly end: LineEnd }
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

/** Whether the lines store nothing, so that many can run at once. */
const onlyValidates = ({ dryRun, operation }: Batch["settings"]): boolean =>
  operation === "VALIDATE" || (operation === "IMPORT" && dryRun)

/** Whether the operation stages accounts, which can be stored together. */
const stages = ({ operation }: Batch["settings"]): boolean =>
  operation === "STAGE" || operation === "IMPORT"

/** Whether the operation reverts accounts, which can be done together. */
const reverts = ({ dryRun, operation }: Batch["settings"]): boolean =>
  operation === "REVERT" && !dryRun

/** The import that the line makes, with the line's end, or null if it is to run alone. */
const prepareImport = Effect.fnUntraced(function* (run: Run) {
  const { operation, operationsTeam } = run.batch.settings
  const sent = yield* readSent(run)
  const team = operation === "IMPORT" ? operationsTeam : null
  const made = yield* run.accountImport.prepareLine(
    run.caller,
    sent.accountRequest,
    sent.errors,
    team
  )
  if (made === null) return null
  const accountNumber = made.creation?.newAccount.number ?? null
  const answer = team === null ? ({ _tag: "Staged", isFirst: true } as const) : null
  const end = endOf(run.encode, run.line, succeeded({ accountNumber, answer }))
  return { _tag: "Import", line: run.line, made: { ...made, end } } satisfies PreparedLine
})

const prepare = (run: Run): Effect.Effect<PreparedLine | null, LineFailure> =>
  stages(run.batch.settings)
    ? prepareImport(run)
    : Effect.map(
        Effect.flatMap(readSent(run), (sent) => prepareRevert(run, sent)),
        (revert) => ({
          _tag: "Revert",
          line: run.line,
          revert
        })
      )

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
  const runOf = (line: LineInHand): Run => ({
    ...programs,
    encode,
    batch,
    caller,
    confirm,
    line
  })
  const ended = (end: LineEnd): LineRun => ({ _tag: "Ended", end })

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
      if (!stages(batch.settings) && !reverts(batch.settings)) return Effect.succeed(null)
      const run = runOf(line)
      return settled(run, prepare(run))
    }
  }
}
