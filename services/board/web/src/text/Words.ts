/** The words of the contract, with what each means to somebody who manages a migration. */
import type { BatchBody, BatchLines, Condition, Migration, States } from "../data/Answers.ts"

interface Word {
  readonly word: string
  readonly meaning: string
}

/** The most urgent first. */
export const conditions: Readonly<Record<Condition, Word>> = {
  stuck: { word: "Stuck", meaning: "Accounts are open, and none has moved for too long." },
  failing: { word: "Failing", meaning: "Accounts have failed and need a correction." },
  slow: { word: "Slow", meaning: "It moves, but behind its plan." },
  waiting: {
    word: "Waiting",
    meaning: "Accounts are staged, and nobody has asked to import them."
  },
  paused: { word: "Paused", meaning: "Somebody has paused it." },
  unfinished: { word: "Left open", meaning: "It is signed off, and not everything was done." },
  running: { word: "Running", meaning: "Accounts are being imported, as planned." },
  done: { word: "Done", meaning: "Nothing is open." }
}

export const conditionOrder = Object.keys(conditions) as ReadonlyArray<Condition>

/** Whether a person should look at a migration in this condition. */
export const needsAttention = (condition: Condition): boolean =>
  condition === "stuck" || condition === "failing" || condition === "slow"

/** Whether a migration accepts imports; a paused or signed-off one refuses them. */
export const isOngoing = ({ status }: Migration): boolean => status === "Ongoing"

export const isSignedOff = ({ status }: Migration): boolean => status === "Complete"

export const states: Readonly<Record<keyof States, Word>> = {
  FAILED: { word: "Failed", meaning: "The latest attempt failed. It needs a correction." },
  PENDING: { word: "Pending", meaning: "Staged or reverted, and no attempt was made since." },
  IN_PROGRESS: { word: "In progress", meaning: "An attempt is running." },
  IMPORTED: { word: "Imported", meaning: "The account exists." },
  SKIPPED: { word: "Skipped", meaning: "The operator has marked it to be left out." },
  ERASED: { word: "Erased", meaning: "The operator has erased its data." }
}

export const stateOrder = Object.keys(states) as ReadonlyArray<keyof States>

export const stateWord = (state: string): string =>
  state in states ? states[state as keyof States].word : state

/** Whether an account can be imported and moved: it waits, or has failed. */
export const isOpen = ({ state }: { readonly state: string }): boolean =>
  state === "PENDING" || state === "FAILED"

const batchStates: Readonly<Record<string, string>> = {
  OPEN: "Open: not started",
  QUEUED: "Queued",
  RUNNING: "Running",
  PAUSED: "Paused",
  COMPLETED: "Completed",
  COMPLETED_WITH_FAILURES: "Completed with failures",
  CANCELLED: "Cancelled"
}

export const batchState = (state: string): string => batchStates[state] ?? state

type Kind = Pick<BatchBody, "dry_run" | "operation">

/** Whether it only tries an import. */
export const isRehearsal = ({ dry_run, operation }: Kind): boolean =>
  dry_run && operation !== "REVERT"

/** A rehearsal is never read as an import. */
export const batchName = (batch: BatchBody): string => {
  const { batch_id, dry_run, name, operation } = batch
  const short = batch_id.slice(0, 8)
  if (isRehearsal(batch)) return name === null ? `Rehearsal ${short}` : `${name} (rehearsal)`
  return `${name ?? `${operation} ${short}`}${dry_run ? " (dry run)" : ""}`
}

type LineOutcome = BatchLines["lines"][number]["outcome"]

/** The outcomes of lines, their names, and the count of each in a batch. */
export const lineEnds: ReadonlyArray<
  readonly [LineOutcome, string, Exclude<keyof BatchBody["counts"], "received">]
> = [
  ["SUCCEEDED", "succeeded", "succeeded"],
  ["ALREADY", "there before", "already"],
  ["FAILED", "failed", "failed"],
  ["CANCELLED", "cancelled", "cancelled"],
  ["REMAINING", "to do", "remaining"]
]

const revertWords: Readonly<Record<string, string>> = {
  SUCCEEDED: "reverted",
  ALREADY: "reverted before"
}

/** What has become of lines of a batch. In a dry run nothing has. */
export const lineWord = (outcome: string, { dry_run, operation }: Kind): string => {
  const isRevert = operation === "REVERT"
  if (dry_run && outcome === "SUCCEEDED") return isRevert ? "would be reverted" : "would succeed"
  if (dry_run && outcome === "FAILED") return "would fail"
  const word = isRevert ? revertWords[outcome] : undefined
  return word ?? lineEnds.find(([name]) => name === outcome)?.[1] ?? outcome
}

const pauses: Readonly<Record<string, string>> = {
  CALLER: "by the supplier",
  OPERATOR: "by an operator or a manager",
  SUPPLIER: "because the migration is not ongoing",
  KEY: "because its API key is not valid any more",
  FAILURES: "because too many lines have failed"
}

const waits: Readonly<Record<string, string>> = {
  WORKER: "Waits until there is room to work on it.",
  DATABASE: "Waits for the database.",
  DOCUMENTS: "Waits for the document store.",
  VENDOR: "Waits for the payment vendor.",
  LIMIT: "Waits because of the limit of its organisation."
}

/** Why a batch does not move; empty if nothing holds it back. */
export const whyStill = ({ paused_by, waiting_for }: BatchBody): string => {
  if (paused_by.length > 0)
    return `Paused ${paused_by.map((it) => pauses[it] ?? it).join(", and ")}.`
  return waiting_for === null ? "" : (waits[waiting_for] ?? waiting_for)
}

const remedies: Readonly<Record<string, string>> = {
  import_supplier_migration_not_ongoing:
    "Resume the migration, then try again. If it is signed off, the operator can reopen it.",
  permission_denied: "Ask whoever gives access to the board for the role manager.",
  not_found: "Ask whoever gives access to the board whether you may see this organisation.",
  operations_team_name_does_not_exist: "Choose one of the teams in the list.",
  certificate_limit_exceeded: "Wait until others are issued, or until tomorrow.",
  throttled: "Try again in a minute.",
  service_unavailable: "Nothing was changed. Try again in a minute.",
  batch_state_conflict: "The batch has moved on. Look at its state, and choose again.",
  batch_limit_exceeded: "Wait until other batches of this supplier have ended.",
  storage_limit_exceeded: "Wait until lines of earlier batches are deleted, or ask the operator."
}

/** What would allow an action that was refused with this code; empty if unknown. */
export const remedyOf = (code: string): string => remedies[code] ?? ""

/** A text of the code registry without its backticks. */
export const plain = (text: string): string => text.replaceAll("`", "")
