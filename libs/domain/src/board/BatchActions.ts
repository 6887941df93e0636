/**
 * What a manager does with batches on the board: starts them for existing imports, and pauses and
 * resumes them. Managers act under `board:` and their name.
 * Source: docs/contract/board.md#actions.
 */
import { DateTime, Effect, Equal, Option, type Result, Schema } from "effect"
import * as Batch from "../batches/Batch.ts"
import { bodies } from "../batches/BatchManagement.ts"
import { startFromSource } from "../batches/StartedBatches.ts"
import { maySee } from "../access/BoardUser.ts"
import { modeOfSupplier, type Supplier } from "../suppliers/Supplier.ts"
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
import { invalid, selected, type Selection } from "./Selection.ts"

export interface Started {
  readonly batch_id: string
  readonly lines: number
}

export interface Processing {
  /** Chosen by the page, so that sending it again starts no second batch. */
  readonly batch_id: string
  readonly selection: Selection
  readonly operations_team_name: string
}

export interface Rehearsable extends Processing {
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
}

const batchId = Schema.decodeUnknownOption(Batch.BatchId)

const startedBody = ({ counts, id }: Batch.Batch): Started => ({
  batch_id: id,
  lines: counts.received
})

const wrongId = (detail: string) => invalid({ attr: "batch_id", code: "invalid", detail })

/** If the batch exists, the same request started it before, and its answer was lost. */
const startBatch = Effect.fnUntraced(function* <E>(
  { batches }: Dependencies,
  caller: BoardCaller,
  {
    batch_id,
    organisation
  }: { readonly batch_id: string; readonly organisation: OrganisationName },
  settings: Batch.BatchSettings,
  allowed: Effect.Effect<void, E>
) {
  const id = batchId(batch_id)
  if (Option.isNone(id)) return yield* wrongId("Must be a UUID.")
  const present = yield* batches.findOfAny(id.value)
  const isOther = (found: Batch.Batch) =>
    found.organisation !== organisation || !Equal.equals(found.settings, settings)
  if (Option.exists(present, isOther)) {
    return yield* wrongId("Names another batch. Reload the page and try again.")
  }
  yield* RequestFacts.note({ batch: id.value })
  if (Option.isSome(present) && present.value.started !== null) return startedBody(present.value)
  yield* allowed
  const as = callerFor(caller, organisation)
  const at = yield* DateTime.now
  return startedBody(yield* startFromSource(batches, { id: id.value, settings, caller: as, at }))
})

const startProcessing = (
  deps: Dependencies,
  caller: BoardCaller,
  { code: supplier, organisation, status }: Supplier,
  { batch_id, operations_team_name: operationsTeam }: Processing,
  chosen: Pick<Batch.BatchSettings, "dryRun" | "name" | "pending">
) => {
  const settings = { ...Batch.defaultSettings, supplier, operationsTeam, ...chosen }
  const allowed = Effect.gen(function* () {
    if (status !== "Ongoing") return yield* new MigrationNotOngoing({ status })
    if (!(yield* deps.configuration.hasTeam(operationsTeam))) {
      return yield* new OperationsTeamDoesNotExist({ name: operationsTeam })
    }
  })
  const about = { batch_id, organisation }
  return startBatch(deps, caller, about, { ...settings, operation: "PROCESS" }, allowed)
}

const longestName = 64

/** What a batch of the board is called in every list. */
const nameOf = (verb: string, whose: string): string =>
  Array.from(`${verb} of ${whose}`).slice(0, longestName).join("")

/** Processes or rehearses the selected pending imports, including failed ones. */
export const process = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  supplier: Supplier,
  command: Rehearsable
) {
  const pending = yield* selected(command.selection)
  const { dry_run: dryRun = false } = command
  const verb = dryRun ? "Rehearsal" : "Import"
  const name = nameOf(verb, pending.cohort ?? "pending accounts")
  return yield* startProcessing(deps, caller, supplier, command, { dryRun, name, pending })
})

/** Processes failed imports again. */
export const retry = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  supplier: Supplier,
  command: Processing
) {
  const pending = { ...(yield* selected(command.selection)), state: "FAILED" } as const
  return yield* startProcessing(deps, caller, supplier, command, {
    dryRun: false,
    name: "Retry from the board",
    pending
  })
})

/** Reverts the imported accounts of a cohort, also of a supplier that is paused. */
export const undo = (
  deps: Dependencies,
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
  return startBatch(deps, caller, { batch_id, organisation }, settings, allowed)
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
    ({ organisation, settings }) =>
      maySee(caller.user, organisation) && modeOfSupplier(settings.supplier) === "live"
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
