/**
 * What a manager does with batches on the board: starts them for existing imports, and pauses and
 * resumes them. Managers act under `board:` and their name.
 * Source: docs/contract/board.md#actions.
 */
import { DateTime, Effect, Equal, Option, type Result, Schema } from "effect"
import * as Batch from "../batches/Batch.ts"
import { remaining } from "../batches/Counts.ts"
import { bodies } from "../batches/BatchManagement.ts"
import { processImports, startFromSource, type WantedBatch } from "../batches/StartedBatches.ts"
import { maySee } from "../access/BoardUser.ts"
import { isLive, type Supplier, type SupplierCode } from "../suppliers/Supplier.ts"
import type { AuditAction, AuditLog } from "../audit/AuditLog.ts"
import type { Batches } from "../batches/Batches.ts"
import type { Configuration } from "../suppliers/Configuration.ts"
import type { OrganisationName } from "../suppliers/Organisation.ts"
import {
  BatchStateConflict,
  MigrationNotOngoing,
  NotFound,
  OperationsTeamDoesNotExist
} from "../requests/Failure.ts"
import type { RevertReason } from "../imports/Revert.ts"
import * as RequestFacts from "../requests/RequestFacts.ts"
import { refusalsRecorded } from "./Acting.ts"
import { type BoardCaller, callerFor } from "./BoardCaller.ts"
import { batchBody } from "./MigrationBodies.ts"
import { invalid, selected, type Selection, type Selected } from "./Selection.ts"
import { businessDay } from "../suppliers/BusinessDay.ts"
import type { FoundPage, ImportSearch } from "../migrations/ImportSearch.ts"
import type { ExternalAccountNumber } from "../accounts/Account.ts"
import type { Failure } from "../requests/Failure.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

export interface Started {
  readonly batch_id: string
  readonly lines: number
}

export interface Processing {
  /** Chosen by the page, so that sending it again starts no second batch. */
  readonly batch_id: string
  readonly selection: Selection
  readonly operations_team_name: string
  /** Whether it is only tried, and a rehearsal of the import. */
  readonly dry_run?: boolean
}

export interface Undoing {
  /** Chosen by the page, as for `Processing`. */
  readonly batch_id: string
  readonly cohort: typeof Batch.ShortName.Type
  readonly reason: typeof RevertReason.Type
  /** Whether accounts to which something was added after the import are reverted too. */
  readonly with_additions: boolean
}

interface Dependencies {
  readonly auditLog: AuditLog["Service"]
  readonly batches: Batches["Service"]
  readonly configuration: Configuration["Service"]
  readonly searching: ImportSearch["Service"]
}

const batchId = Schema.decodeUnknownOption(Batch.BatchId)

const startedBody = ({ counts, id }: Batch.Batch): Started => ({
  batch_id: id,
  lines: counts.received
})

const wrongId = (detail: string) => invalid({ attr: "batch_id", code: "invalid", detail })

const namesAnother = "Names another batch. Reload the page and try again."

/** How often a request that fills a batch at the same time as another tries again. */
const startsAtOnce = 10

const startingFromSource =
  ({ batches }: Pick<Dependencies, "batches">) =>
  (wanted: WantedBatch) =>
    startFromSource(batches, wanted)

/** A batch that a manager starts: what it is, when it may start, and how it gets its lines. */
interface Starting {
  readonly batch_id: string
  readonly organisation: OrganisationName
  readonly settings: Batch.BatchSettings
  readonly allowed: Effect.Effect<void, Failure | StorageUnavailable>
  readonly start: (wanted: WantedBatch) => Effect.Effect<Batch.Batch, Failure | StorageUnavailable>
}

/** If the batch exists, the same request started it before, and its answer was lost. */
const startBatch = Effect.fnUntraced(function* (
  { batches }: Pick<Dependencies, "batches">,
  caller: BoardCaller,
  { allowed, batch_id, organisation, settings, start }: Starting
) {
  const id = batchId(batch_id)
  if (Option.isNone(id)) return yield* wrongId("Must be a UUID.")
  const present = yield* batches.findOfAny(id.value)
  const isOther = (found: Batch.Batch) =>
    found.organisation !== organisation || !Equal.equals(found.settings, settings)
  if (Option.exists(present, isOther)) return yield* wrongId(namesAnother)
  yield* RequestFacts.note({ batch: id.value })
  if (Option.isSome(present) && present.value.started !== null) return startedBody(present.value)
  yield* allowed
  const as = callerFor(caller, organisation)
  const at = yield* DateTime.now
  return startedBody(yield* start({ id: id.value, settings, caller: as, at }))
})

const pageSize = 1_000

/** The most accounts of a selection that are found one by one before a batch starts. */
const namedAtOnce = 20 * pageSize

/** The numbers of the selected imports that are pending or have failed. */
const openNumbers = Effect.fnUntraced(function* (
  { searching }: Pick<Dependencies, "searching">,
  supplier: SupplierCode,
  filter: Selected,
  at: DateTime.Utc
) {
  const numbers: Array<ExternalAccountNumber> = []
  let after: string | null = null
  do {
    const query = { supplier, filter, after, limit: pageSize, at }
    const page: FoundPage = yield* searching.page(query)
    const open = page.imports.filter(({ state }) => state === "PENDING" || state === "FAILED")
    numbers.push(...open.map(({ number }) => number))
    after = page.next
    if (numbers.length > namedAtOnce) {
      const detail = `Has more than ${namedAtOnce} accounts. Select them by state, code or cohort.`
      return yield* invalid({ attr: "selection", code: "invalid", detail })
    }
  } while (after !== null)
  return numbers
})

/** Starts a batch with these imports as its lines, also if that was interrupted before. */
const startWith =
  ({ batches, searching }: Dependencies, filter: Selected) =>
  (wanted: WantedBatch) =>
    Effect.gen(function* () {
      const { supplier } = wanted.settings
      const numbers = yield* openNumbers({ searching }, supplier, filter, wanted.at)
      return yield* processImports(batches, wanted, numbers)
    }).pipe(
      Effect.retry({
        while: (error) => error._tag === "OtherLines" && error.isConcurrent,
        times: startsAtOnce
      }),
      Effect.catchTag("OtherLines", () => wrongId(namesAnother))
    )

const longestName = 64

/** What a batch of the board is called in every list. */
const nameOf = (verb: string, whose: string): string =>
  Array.from(`${verb} of ${whose}`).slice(0, longestName).join("")

/** A batch has no name that tells a part of an account number. */
const whoseOf = ({ cohort, corrected, state }: Selected, isNamed: boolean): string => {
  if (isNamed) return "chosen accounts"
  if (typeof cohort === "string") return cohort
  const kind = corrected ? "corrected" : state === "FAILED" ? "failed" : "pending"
  return `${kind} accounts${cohort === null ? " without a cohort" : ""}`
}

/**
 * Processes or rehearses the selected pending imports, including failed ones. Numbers and paths of
 * errors may be personal data: they become lines, which can be erased, and no settings.
 */
export const process = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  { code: supplier, organisation, status }: Supplier,
  { batch_id, dry_run: dryRun = false, operations_team_name, selection }: Processing
) {
  const filter = yield* selected(selection)
  const { attr, numbers, search, ...pending } = filter
  const isNamed = [attr, numbers, search].some((each) => each !== undefined)
  const verb = dryRun ? "Rehearsal" : pending.state === "FAILED" ? "Retry" : "Import"
  const settings = {
    ...Batch.defaultSettings,
    supplier,
    operation: "PROCESS",
    operationsTeam: operations_team_name,
    dryRun,
    name: nameOf(verb, whoseOf(filter, isNamed)),
    pending: isNamed ? null : pending
  } as const
  const allowed = Effect.gen(function* () {
    if (status !== "Ongoing") return yield* new MigrationNotOngoing({ status })
    if (!(yield* deps.configuration.hasTeam(operations_team_name))) {
      return yield* new OperationsTeamDoesNotExist({ name: operations_team_name })
    }
  })
  const start = isNamed ? startWith(deps, filter) : startingFromSource(deps)
  return yield* startBatch(deps, caller, { batch_id, organisation, settings, allowed, start })
})

/** A batch that imports accounts of the same migration, which may be the selected ones. */
const runningBody = ({ counts, id, settings, started }: Batch.Batch) => ({
  batch_id: id,
  name: settings.name,
  by: started?.apiKey ?? null,
  lines_remaining: remaining(counts)
})

/**
 * How many accounts `process` would take now, which of them may pass as they are, and what imports
 * accounts of the migration already.
 */
export const preview = Effect.fnUntraced(function* (
  { batches, searching }: Pick<Dependencies, "batches" | "searching">,
  { code: supplier, timeZone }: Supplier,
  { selection }: Pick<Processing, "selection">
) {
  const filter = yield* selected(selection)
  const at = yield* DateTime.now
  const today = businessDay(at, timeZone)
  const { accounts, failedByDay } = yield* searching.count({ supplier, filter, today, at })
  const unfinished = yield* batches.list({ supplier, isUnfinished: true, after: null, limit: 100 })
  const running = unfinished.filter(
    ({ settings, started }) => started !== null && Batch.createsAccounts(settings)
  )
  return {
    accounts,
    business_day: today,
    failed_by_day: failedByDay,
    running: running.map(runningBody)
  }
})

/** Reverts the imported accounts of a cohort, also of a supplier that is paused. */
export const undo = (
  deps: Pick<Dependencies, "batches">,
  caller: BoardCaller,
  { code: supplier, organisation, status }: Supplier,
  { batch_id, cohort, reason, with_additions: withAdditions }: Undoing
) => {
  const settings = {
    ...Batch.defaultSettings,
    supplier,
    operation: "REVERT",
    name: nameOf("Undo", cohort),
    imported: { cohort },
    revert: { reason, withAdditions }
  } as const
  const allowed =
    status === "Complete" ? Effect.fail(new MigrationNotOngoing({ status })) : Effect.void
  const start = startingFromSource(deps)
  return startBatch(deps, caller, { batch_id, organisation, settings, allowed, start })
}

type Decide = (
  caller: ReturnType<typeof callerFor>
) => (batch: Batch.Batch) => Result.Result<Batch.Batch, Batch.StateConflict>

const changeBatch = Effect.fnUntraced(function* (
  { auditLog, batches }: Dependencies,
  caller: BoardCaller,
  named: string,
  action: AuditAction,
  decide: Decide
) {
  const id = batchId(named)
  const found = Option.isSome(id) ? yield* batches.findOfAny(id.value) : Option.none()
  const isVisible = Option.exists(
    found,
    ({ organisation, settings: { supplier: code } }) =>
      maySee(caller.user, { code, organisation }) && isLive({ code })
  )
  if (Option.isNone(found) || !isVisible) return yield* new NotFound()
  const { id: present, organisation, settings } = found.value
  yield* RequestFacts.noteBatch(found.value)
  const at = yield* DateTime.now
  const as = callerFor(caller, organisation)
  const changed = yield* Effect.catchTags(
    batches.change({ id: present, decide: decide(as), action, caller: as, at }),
    {
      StateConflict: ({ state }) => new BatchStateConflict({ state }),
      ReservationLost: Effect.die
    }
  ).pipe(refusalsRecorded({ auditLog }, caller, action, { code: settings.supplier, organisation }))
  return batchBody((yield* bodies({ batches }))(changed))
})

/** Pauses the batch. Lines that a worker has in hand still end. */
export const pause = (deps: Dependencies, caller: BoardCaller, named: string) =>
  changeBatch(deps, caller, named, "pause_batch", () => (batch) => Batch.pause(batch, "OPERATOR"))

/** Lifts every pause but the sender's own, and that of a supplier that is not Ongoing. */
export const resume = (deps: Dependencies, caller: BoardCaller, named: string) =>
  changeBatch(
    deps,
    caller,
    named,
    "resume_batch",
    ({ apiKey }) =>
      (batch) =>
        Batch.resume(batch, ["OPERATOR", "FAILURES", "KEY"], apiKey)
  )
