/**
 * The answer that a request must get, given the results of its own port calls. A success means that
 * the change happened, and a failure needs an injected fault.
 */
import { Cause, Exit, Option } from "effect"
import type { ImportProcess } from "@data-import/domain/account/ImportProcess"
import type {
  Claim,
  Completion,
  ImportListEntry,
  Staging
} from "@data-import/domain/ports/ImportProcesses"
import type { Reserving } from "@data-import/domain/ports/IdempotencyKeys"
import { stateOf } from "./ImportModel.ts"
import { readKept } from "./LineResultText.ts"
import { entryLine } from "./Programs.ts"
import { type Answer, type SentRequest, begunAt, type Call, type Order } from "./Request.ts"

const callsOf = ({ calls }: SentRequest, operation: string): ReadonlyArray<Call> =>
  calls.filter((call) => call.operation === operation)

/** The result of the last call of this operation; undefined if there was none, or it failed. */
const valueOf = <A>(asked: SentRequest, operation: string): A | undefined => {
  const exit = callsOf(asked, operation).at(-1)?.exit
  return exit !== undefined && Exit.isSuccess(exit) ? (exit.value as A) : undefined
}

const answered = (code: string, message = ""): Answer => ({ code, message })

/** The answer must be another one, because this did not happen. */
const nothingHappened = answered("anything but that")

/** The refusal that a state leads to. */
const refusals: Readonly<Record<string, string>> = {
  Imported: "account_import_process_already_imported",
  Skipped: "account_import_process_skipped",
  InProgress: "account_import_process_in_progress",
  none: "import_process_does_not_exist"
}

const isMissing = ({ exit }: Call): boolean =>
  Exit.isSuccess(exit) && Option.isNone(exit.value as Option.Option<unknown>)

/** Whether a document was missing, among those looked up before the call of this operation. */
const missesDocument = (asked: SentRequest, until: string | null): boolean => {
  const end = asked.calls.findIndex(({ operation }) => operation === until)
  const earlier = end < 0 ? asked.calls : asked.calls.slice(0, end)
  return earlier.some((call) => call.operation === "Documents.find" && isMissing(call))
}

const importOf = (call: Call | undefined): ImportProcess | null =>
  call !== undefined && Exit.isSuccess(call.exit)
    ? Option.getOrNull(call.exit.value as Option.Option<ImportProcess>)
    : null

/** The state of an import when it was looked up, at the instant. */
const stateFound = (call: Call | undefined, at: number): string => {
  const process = importOf(call)
  if (process === null) return "none"
  const { account, lease, skipped } = process
  return stateOf(
    {
      skipped,
      lease: lease && { attempt: lease.attempt, until: lease.expiresAt.epochMilliseconds },
      account: account && { number: account.number, at: account.createdAt.epochMilliseconds }
    },
    at
  )
}

/** The refusal in a state that was found, with the account's number. */
const refused = (found: { readonly _tag: string; readonly accountNumber?: string } | null) =>
  answered(refusals[found?._tag ?? "none"] ?? "", found?.accountNumber ?? "")

const ofStage = (asked: SentRequest): Answer => {
  const staging = valueOf<Staging>(asked, "ImportProcesses.stage")
  if (staging === undefined) return nothingHappened
  if (staging._tag === "Refused") return refused(staging.found)
  return answered("ok", staging._tag === "Created" ? "first" : "again")
}

const ofTeam = (asked: SentRequest): Answer => {
  const call = callsOf(asked, "ImportProcesses.find").at(-1)
  const state = stateFound(call, begunAt(asked))
  if (state === "Pending") return answered("operations_team_name_does_not_exist")
  return answered(refusals[state] ?? "", importOf(call)?.account?.number ?? "")
}

const ofProcess = (asked: SentRequest, { dryRun }: Order<"process">): Answer => {
  if (valueOf<boolean>(asked, "Configuration.hasTeam") === false) return ofTeam(asked)
  const claim = valueOf<Claim>(asked, "ImportProcesses.claim")
  if (claim?._tag === "LimitExceeded") return answered("concurrency_limit_exceeded")
  if (claim?._tag !== "Claimed") return refused(claim?.found ?? null)
  if (missesDocument(asked, null)) return answered("account_failed_validation")
  if (dryRun) return answered("dry_run_successful")
  const completed = callsOf(asked, "ImportProcesses.complete").at(-1)
  return completed?.expected ?? nothingHappened
}

const ofChange = (asked: SentRequest): Answer =>
  callsOf(asked, "Accounts.change").at(-1)?.expected ?? nothingHappened

const vendorAnswers: Readonly<Record<string, string>> = {
  VendorRejected: "payment_instruction_rejected_by_vendor",
  VendorUnreachable: "payment_vendor_unreachable",
  VendorUnavailable: "payment_vendor_unavailable"
}

const ofInstruction = (asked: SentRequest): Answer => {
  const seen = valueOf<Option.Option<unknown>>(asked, "Accounts.view")
  if (seen !== undefined && Option.isNone(seen)) {
    const state = stateFound(callsOf(asked, "ImportProcesses.find").at(-1), begunAt(asked))
    return answered(state === "none" ? "import_process_does_not_exist" : "account_not_found")
  }
  const verified = callsOf(asked, "PaymentVendor.verify").at(-1)?.exit
  if (verified !== undefined && Exit.isFailure(verified)) {
    const failure = Option.getOrNull(Cause.findErrorOption(verified.cause))
    return answered(vendorAnswers[(failure as { readonly _tag: string } | null)?._tag ?? ""] ?? "")
  }
  return ofChange(asked)
}

const statuses: Readonly<Record<string, string>> = {
  Imported: "COMPLETED",
  InProgress: "IN_PROGRESS",
  Pending: "UNKNOWN",
  Skipped: "UNKNOWN"
}

const ofStatus = (asked: SentRequest): Answer => {
  const call = callsOf(asked, "ImportProcesses.findOwn").at(-1)
  const state = stateFound(call, call?.at ?? 0)
  if (state === "none") return answered("not_found")
  return answered("ok", `${statuses[state] ?? ""} ${importOf(call)?.account?.number ?? ""}`)
}

const ofList = (asked: SentRequest, { limit }: Order<"list">): Answer => {
  const found = valueOf<ReadonlyArray<ImportListEntry>>(asked, "ImportProcesses.list") ?? []
  const entries = limit === null ? found : found.slice(0, limit)
  const isLast = found.length === entries.length
  const next = isLast ? "-" : (entries.at(-1)?.external_account_number ?? "-")
  return answered("ok", [...entries.map(entryLine), `next ${next}`].join("\n"))
}

/** The answer that the rules and the supplier require, before the import is read. */
const ofRules = (asked: SentRequest): Answer | null => {
  const { order } = asked
  const { supplier } = callsOf(asked, "Configuration.supplier")[0] ?? {}
  if (supplier === undefined) return null
  if (order.kind === "status" || order.kind === "list") {
    return supplier === null ? answered("not_found") : null
  }
  const isAccount = ["validate", "stage", "process"].includes(order.kind)
  const invalid = answered(isAccount ? "account_failed_validation" : "request_failed_validation")
  const isBroken = "broken" in order && order.broken !== null
  if (supplier === null || isBroken) return invalid
  if (missesDocument(asked, "ImportProcesses.claim")) return invalid
  if (order.kind === "validate" || supplier === "Ongoing") return null
  return answered("import_supplier_migration_not_ongoing")
}

const hasLostReservation = ({ calls }: SentRequest): boolean =>
  calls.some(({ exit }) => {
    const failure = Option.getOrNull(Exit.findErrorOption(exit))
    return (failure as { readonly _tag: string } | null)?._tag === "ReservationLost"
  })

/** The kept answer of a line of a batch is its result. */
export const keptMessage = ({ line }: SentRequest, kept: string): string =>
  line === null ? kept : readKept(kept).message

/** The answer that the request's key requires; null if the key does not matter. */
const ofKey = (asked: SentRequest): Answer | null => {
  const reserving = valueOf<Reserving>(asked, "IdempotencyKeys.reserve")
  switch (reserving?._tag) {
    case "Kept":
      return { ...answered("ok", keptMessage(asked, reserving.answer)), replayed: true }
    case "Reused":
      return answered("idempotency_key_reused")
    case "InUse":
      return answered("idempotency_key_in_use")
    default:
      return hasLostReservation(asked) ? answered("idempotency_key_in_use") : null
  }
}

/** Whether a request that does not hold its key has done anything. */
const hasRunWithoutKey = (asked: SentRequest): boolean => {
  const reserving = valueOf<Reserving>(asked, "IdempotencyKeys.reserve")
  if (asked.keyed === null || reserving?._tag === "Reserved") return false
  return asked.calls.some(({ operation }) => !operation.startsWith("IdempotencyKeys."))
}

/** The answer that the request must get; null for commands, which have their own checks. */
const expectedOf = (asked: SentRequest): Answer | null => ofKey(asked) ?? ofOrder(asked)

const ofOrder = (asked: SentRequest): Answer | null => {
  const { order } = asked
  switch (order.kind) {
    case "validate":
      return ofRules(asked) ?? answered("ok", "valid")
    case "stage":
      return ofRules(asked) ?? ofStage(asked)
    case "process":
      return ofRules(asked) ?? ofProcess(asked, order)
    case "notes":
    case "transactions":
    case "statements":
      return ofRules(asked) ?? ofChange(asked)
    case "instruction":
      return ofRules(asked) ?? ofInstruction(asked)
    case "status":
      return ofRules(asked) ?? ofStatus(asked)
    case "list":
      return ofRules(asked) ?? ofList(asked, order)
    case "skip":
    case "setStatus":
    case "createSupplier":
    case "batch":
    case "work":
      return null
  }
}

const hasLostLease = (asked: SentRequest): boolean =>
  valueOf<boolean>(asked, "ImportProcesses.renew") === false ||
  ["ImportProcesses.complete", "ImportProcesses.dryRun"].some(
    (operation) => valueOf<Completion>(asked, operation)?._tag === "LeaseLost"
  )

/** The deadline for document look-ups. Source: docs/contract/values.md#documents-of-one-request. */
const lookUpMillis = 5_000

/** Whether the document store may have taken too long; only these requests use it. */
const mayHaveWaitedForDocuments = ({ order }: SentRequest, elapsedMillis: number): boolean =>
  elapsedMillis >= lookUpMillis &&
  ["validate", "stage", "process", "notes", "statements"].includes(order.kind)

/** Why the answer is wrong; null if it is right. `elapsedMillis` is how long the request took. */
export const complaintAbout = (
  asked: SentRequest,
  answer: Answer,
  elapsedMillis: number
): string | null => {
  const { code, replayed, message } = answer
  if (asked.line?.step === "prepare" && code === "ok") return null
  if (hasRunWithoutKey(asked)) return "it ran without its key"
  if (code === "error" && asked.injectedFaults.has("defect")) return null
  const isAway = code === "service_unavailable" || code === "payment_vendor_unavailable"
  if (isAway && (asked.injectedFaults.has("unavailable") || hasLostLease(asked))) return null
  if (code === "service_unavailable" && mayHaveWaitedForDocuments(asked, elapsedMillis)) return null
  const expected = expectedOf(asked)
  if (expected === null) {
    return code === "error" || isAway ? `nothing went wrong, and it was answered ${code}` : null
  }
  if (expected.code !== code) return `it was answered ${code}, and must be ${expected.code}`
  if (expected.replayed !== replayed) return "it says wrongly whether its answer was kept"
  // The messages of validation errors are checked by other tests.
  const isSame = /_failed_validation$/.test(code) || expected.message === message
  return isSame ? null : `it was answered ${code} "${message}", and must be "${expected.message}"`
}
