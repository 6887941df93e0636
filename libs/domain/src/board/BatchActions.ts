/**
 * What a manager does with batches on the board: starts them for imports that are there already,
 * and
 * pauses and resumes them. They act under `board:` and the user's name.
 * Source: docs/contract/board.md#actions.
 */
import { DateTime, Effect, Option, type Result, Schema } from "effect"
import * as Batch from "../batch/Batch.ts"
import { bodies } from "../batch-processing/BatchManagement.ts"
import {
  failedImports,
  type PendingBatch,
  processImports,
  processPending
} from "../batch-processing/PendingBatches.ts"
import { maySee } from "../organisation/BoardUser.ts"
import { modeOfSupplier, type Supplier } from "../organisation/Supplier.ts"
import type { AuditAction } from "../ports/AuditLog.ts"
import type { Batches } from "../ports/Batches.ts"
import type { Configuration } from "../ports/Configuration.ts"
import type { ImportProcesses } from "../ports/ImportProcesses.ts"
import {
  BatchStateConflict,
  MigrationNotOngoing,
  NotFound,
  OperationsTeamDoesNotExist
} from "../requests/Failure.ts"
import { type BoardCaller, callerFor } from "./BoardCaller.ts"
import { batchBody } from "./MigrationBodies.ts"
import { selected, type Selection } from "./Selection.ts"

export interface Started {
  readonly batch_id: string
  readonly lines: number
}

export interface Processing {
  readonly selection: Selection
  readonly operations_team_name: string
}

interface Dependencies {
  readonly batches: Batches["Service"]
  readonly configuration: Configuration["Service"]
  readonly imports: ImportProcesses["Service"]
}

const newBatch = Effect.fnUntraced(function* (
  { configuration }: Dependencies,
  caller: BoardCaller,
  { code: supplier, organisation, status }: Supplier,
  operationsTeam: string,
  name: string
) {
  if (status !== "Ongoing") return yield* new MigrationNotOngoing({ status })
  if (!(yield* configuration.hasTeam(operationsTeam))) {
    return yield* new OperationsTeamDoesNotExist({ name: operationsTeam })
  }
  const id = Batch.BatchId.make(crypto.randomUUID())
  const at = yield* DateTime.now
  const wanted: PendingBatch = {
    id,
    supplier,
    operationsTeam,
    name,
    caller: callerFor(caller, organisation),
    at
  }
  return wanted
})

const startedBody = ({ counts, id }: Batch.Batch): Started => ({
  batch_id: id,
  lines: counts.received
})

/** Processes the pending imports that are selected, failed ones too. */
export const process = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  supplier: Supplier,
  { operations_team_name: team, selection }: Processing
) {
  const { code, cohort, state } = yield* selected(selection)
  const wanted = yield* newBatch(deps, caller, supplier, team, "Processed from the board")
  const filter: Batch.PendingFilter = {
    ...(cohort !== undefined && { cohort }),
    ...(code !== undefined && { code }),
    ...(state !== undefined && { failed: state === "FAILED" })
  }
  return startedBody(yield* processPending(deps.batches, wanted, filter))
})

/** Processes again what has failed. */
export const retry = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  supplier: Supplier,
  { operations_team_name: team, selection }: Processing
) {
  const { code, cohort } = yield* selected(selection)
  const wanted = yield* newBatch(deps, caller, supplier, team, "Retry from the board")
  const filter = { ...(code !== undefined && { code }), ...(cohort !== undefined && { cohort }) }
  const numbers = yield* failedImports(deps.imports, supplier.code, filter, wanted.at)
  return startedBody(yield* processImports(deps.batches, wanted, numbers))
})

const batchId = Schema.decodeUnknownOption(Batch.BatchId)

type Decide = (
  caller: ReturnType<typeof callerFor>
) => (batch: Batch.Batch) => Result.Result<Batch.Batch, Batch.StateConflict>

const changeBatch = Effect.fnUntraced(function* (
  { batches }: Dependencies,
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
  const { id: present, organisation } = found.value
  const at = yield* DateTime.now
  const as = callerFor(caller, organisation)
  const changed = yield* Effect.catchTags(
    batches.change({ id: present, decide: decide(as), action, caller: as, at }),
    {
      StateConflict: ({ state }) => new BatchStateConflict({ state }),
      ReservationLost: Effect.die
    }
  )
  return batchBody((yield* bodies({ batches }))(changed))
})

/** Lines in hand end. */
export const pause = (deps: Dependencies, caller: BoardCaller, named: string) =>
  changeBatch(deps, caller, named, "pause_batch", () => (batch) => Batch.pause(batch, "OPERATOR"))

/** Its sender's own pause stays, and that of a supplier that is not Ongoing. */
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
