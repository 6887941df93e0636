/**
 * What a manager does on the board. Every change is in the audit log under `board:` and the user's
 * name. A supplier or batch that the user may not see is reported as unknown. The HTTP layer checks
 * that the user is a manager.
 * Source: docs/contract/board.md#actions.
 */
import { Context, DateTime, Effect, Layer, Option, Result } from "effect"
import { changeStatus, type Supplier } from "../suppliers/Supplier.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { Batches } from "../batches/Batches.ts"
import type { BoardUser } from "../access/BoardUser.ts"
import { CertificateId, Certificates } from "../certificates/Certificates.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { ControlTotals, differencesIn, type ExpectedTotals } from "../migrations/ControlTotals.ts"
import {
  controlTotalsBody,
  type ControlTotalsAnswer
} from "../migrations/ControlTotalsManagement.ts"
import { Comments } from "../migrations/Comments.ts"
import { itemsText } from "../migrations/OpenItems.ts"
import { CohortMoves } from "../migrations/CohortMoves.ts"
import { ImportSearch } from "../migrations/ImportSearch.ts"
import { type MigrationPlan, Migrations } from "../migrations/Migrations.ts"
import { SupplierSummaries } from "../migrations/SupplierSummaries.ts"
import { type Failure, MigrationNotOngoing } from "../requests/Failure.ts"
import { traced } from "../support/Traced.ts"
import { acting, available, looking } from "./Acting.ts"
import { type BoardCaller, callerFor } from "./BoardCaller.ts"
import * as BatchActions from "./BatchActions.ts"
import type { batchBody } from "./MigrationBodies.ts"
import { unstagedOf } from "../migrations/OpenWorkText.ts"
import { stagingLines } from "../migrations/OpenWork.ts"
import { expectedBy, readPlan } from "../migrations/Plan.ts"
import { certificateOf, openItems, type SignOffBody, signOffBody } from "../migrations/SignOff.ts"
import * as Moves from "./Moves.ts"
import { cohortNamed, invalid } from "./Selection.ts"
import { undoPreview, type UndoQuery } from "./UndoPreview.ts"

type Action<Command, A> = (
  caller: BoardCaller,
  supplier: string,
  command: Command
) => Effect.Effect<A, Failure>

type BatchAction = (
  caller: BoardCaller,
  batch: string
) => Effect.Effect<ReturnType<typeof batchBody>, Failure>

interface Expecting {
  readonly cohort: string | null
  /** Removes the control totals if it is omitted. */
  readonly expected?: ExpectedTotals
}

interface ChangingStatus {
  readonly status: "Ongoing" | "Paused"
  /** Required to pause while something is open. */
  readonly reason?: string | null
}

interface SigningOff {
  readonly import_supplier: string
  readonly accept_open: boolean
  /** Required while something is open. */
  readonly reason?: string | null
  /** The certificate that the user was shown; null for none. */
  readonly certificate_id: string | null
}

export class MigrationActions extends Context.Service<
  MigrationActions,
  {
    /** Replaces the plan; without points it is deleted. */
    readonly setPlan: Action<
      { readonly points: ReadonlyArray<{ readonly on: string; readonly accounts: number }> },
      { readonly points: MigrationPlan }
    >
    /** Replaces the control totals of the migration, or of a cohort of it. */
    readonly setControlTotals: Action<Expecting, ControlTotalsAnswer>
    /** Only the operator can reopen a supplier that is Complete. */
    readonly setStatus: Action<ChangingStatus, { readonly status: string }>
    /**
     * Sets the cohort of the selected pending imports, at most `importsAtOnce` of them. Refused
     * once the migration is signed off.
     */
    readonly setCohort: Action<Moves.Move, Moves.Moved>
    /** A move, and whether an undo would restore exactly what was before. */
    readonly move: (
      caller: Pick<BoardCaller, "user">,
      supplier: string,
      move: string
    ) => Effect.Effect<Effect.Success<ReturnType<typeof Moves.moveDetail>>, Failure>
    /** Gives the accounts of a move the cohorts that they had before; refused unless exact. */
    readonly undoMove: (
      caller: BoardCaller,
      supplier: string,
      move: string,
      command: Moves.Undo
    ) => Effect.Effect<Moves.Moved, Failure>
    /** Processes or rehearses the selected pending imports, including failed ones. */
    readonly process: Action<BatchActions.Processing, BatchActions.Started>
    /** What `process` would do. */
    readonly preview: (
      caller: Pick<BoardCaller, "user">,
      supplier: string,
      command: Pick<BatchActions.Processing, "selection">
    ) => Effect.Effect<Effect.Success<ReturnType<typeof BatchActions.preview>>, Failure>
    /** What `undo` would do. */
    readonly undoPreview: (
      caller: Pick<BoardCaller, "user">,
      supplier: string,
      query: UndoQuery
    ) => Effect.Effect<Effect.Success<ReturnType<typeof undoPreview>>, Failure>
    /** Reverts the imported accounts of a cohort. Refused once the migration is signed off. */
    readonly undo: Action<BatchActions.Undoing, BatchActions.Started>
    /** The open items, and who has signed the migration off. */
    readonly signOffState: (
      caller: Pick<BoardCaller, "user">,
      supplier: string
    ) => Effect.Effect<SignOffBody, Failure>
    /**
     * Makes the supplier Complete, with the newest certificate. Refused while something is open,
     * unless that is accepted, and with another certificate than that.
     */
    readonly signOff: Action<SigningOff, SignOffBody>
    readonly pauseBatch: BatchAction
    /** Lifts every pause but the sender's own, and that of a supplier that is not Ongoing. */
    readonly resumeBatch: BatchAction
  }
>()("@data-import/domain/MigrationActions") {}

const pageSize = 1_000

interface Dependencies {
  readonly auditLog: AuditLog["Service"]
  readonly batches: Batches["Service"]
  readonly certificates: Certificates["Service"]
  readonly comments: Comments["Service"]
  readonly configuration: Configuration["Service"]
  readonly controlTotals: ControlTotals["Service"]
  readonly migrations: Migrations["Service"]
  readonly moves: CohortMoves["Service"]
  readonly searching: ImportSearch["Service"]
  readonly summaries: SupplierSummaries["Service"]
}

const setPlan = Effect.fnUntraced(function* (
  { migrations }: Dependencies,
  caller: BoardCaller,
  { code: supplier, organisation }: Supplier,
  points: Parameters<typeof readPlan>[0]
) {
  const plan = readPlan(points)
  if (Result.isFailure(plan)) return yield* invalid(...plan.failure)
  yield* migrations.setPlan({
    supplier,
    plan: plan.success,
    caller: callerFor(caller, organisation),
    at: yield* DateTime.now
  })
  return { points: plan.success }
})

const setControlTotals = Effect.fnUntraced(function* (
  { controlTotals }: Dependencies,
  caller: BoardCaller,
  { code: supplier, organisation }: Supplier,
  { cohort: named, expected }: Expecting
) {
  const cohort = yield* cohortNamed(named)
  const at = yield* DateTime.now
  yield* controlTotals.set({
    supplier,
    cohort,
    totals: expected ?? null,
    caller: callerFor(caller, organisation),
    at
  })
  return controlTotalsBody(supplier, yield* controlTotals.read({ supplier, cohort }), at)
})

const signOffState = Effect.fnUntraced(function* (
  { batches, certificates, comments, controlTotals, migrations, summaries }: Dependencies,
  user: BoardUser,
  { code: supplier, organisation, status }: Supplier
) {
  const at = yield* DateTime.now
  const [summary, unfinished, signed, plans, expected, whole, cohorts, reasons] = yield* Effect.all(
    [
      summaries.read({ supplier, cohort: null, at }),
      batches.list({ supplier, isUnfinished: true, after: null, limit: pageSize }),
      migrations.signOff(supplier),
      migrations.plans([supplier]),
      Effect.map(controlTotals.expected([supplier]), (by) => by.get(supplier) ?? []),
      controlTotals.read({ supplier, cohort: null }),
      controlTotals.ofCohorts(supplier),
      comments.reasons([supplier])
    ],
    { concurrency: "unbounded" }
  )
  const valid = status === "Complete" ? Option.getOrNull(signed) : null
  const attached = valid?.certificate
  const record =
    attached === null
      ? Option.none()
      : attached === undefined
        ? yield* certificates.newestIssued(supplier)
        : yield* certificates.find(organisation, attached)
  const lines = { ...stagingLines(unfinished), refused: summary.linesRefused }
  const planned = expectedBy(plans.get(supplier) ?? [])
  const unstaged = unstagedOf(summary.states, lines, planned, expected)
  const differences = differencesIn(whole, cohorts)
  const open = openItems(summary, unstaged, unfinished.length, differences)
  const reason = reasons.get(supplier) ?? null
  const certificate = yield* certificateOf({ summaries }, Option.getOrNull(record), user, {
    cohort: null,
    summary
  })
  return signOffBody(open, certificate, valid, reason, user)
})

const reasonMissing = (open: SignOffBody["open"]) => {
  const detail = `Say why, because this is open: ${itemsText(open)}.`
  return invalid({ attr: "reason", code: "required", detail })
}

const setStatus = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  supplier: Supplier,
  { reason: text = null, status }: ChangingStatus
) {
  const { code, organisation } = supplier
  const { open } = yield* signOffState(deps, caller.user, supplier)
  const isPause = status === "Paused"
  if (isPause && supplier.status === "Ongoing" && text === null && open.length > 0) {
    return yield* reasonMissing(open)
  }
  const changed = yield* deps.migrations.changeStatus(
    {
      supplier: code,
      about: isPause ? "pause" : "resume",
      reason: text === null ? null : { text, open },
      caller: callerFor(caller, organisation),
      at: yield* DateTime.now
    },
    (present) =>
      Result.mapError(
        changeStatus(present, status, false),
        () => new MigrationNotOngoing({ status: present })
      )
  )
  return { status: changed }
})

const signOff = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: BoardCaller,
  named: string,
  supplier: Supplier,
  command: SigningOff
) {
  const { code, organisation } = supplier
  if (command.import_supplier !== named) {
    const detail = "Must be the code of the supplier that is signed off."
    return yield* invalid({ attr: "import_supplier", code: "invalid", detail })
  }
  const before = yield* signOffState(deps, caller.user, supplier)
  if (before.signed !== null) return before
  if (before.open.length > 0 && !command.accept_open) {
    const detail = `Is open: ${itemsText(before.open)}. Accept it, or finish it first.`
    return yield* invalid({ attr: "accept_open", code: "invalid", detail })
  }
  const { reason = null } = command
  if (before.open.length > 0 && reason === null) return yield* reasonMissing(before.open)
  const newest = before.certificate?.certificate_id ?? null
  if (newest !== command.certificate_id) {
    const detail = `Is not the newest certificate, which is ${newest ?? "none"}. Look at it first.`
    return yield* invalid({ attr: "certificate_id", code: "invalid", detail })
  }
  yield* deps.migrations.recordSignOff({
    supplier: code,
    certificate: newest === null ? null : CertificateId.make(newest),
    reason:
      reason === null || before.open.length === 0 ? null : { text: reason, open: before.open },
    caller: callerFor(caller, organisation),
    at: yield* DateTime.now
  })
  return yield* signOffState(deps, caller.user, { ...supplier, status: "Complete" })
})

const make = Effect.gen(function* () {
  const deps: Dependencies = {
    auditLog: yield* AuditLog,
    batches: yield* Batches,
    certificates: yield* Certificates,
    comments: yield* Comments,
    configuration: yield* Configuration,
    controlTotals: yield* ControlTotals,
    migrations: yield* Migrations,
    moves: yield* CohortMoves,
    searching: yield* ImportSearch,
    summaries: yield* SupplierSummaries
  }
  const on = acting(deps)
  const seen = looking(deps)

  return MigrationActions.of({
    setPlan: traced("MigrationActions.setPlan")((caller, named, { points }) =>
      on(caller, named, "set_plan", (supplier) => setPlan(deps, caller, supplier, points))
    ),
    setControlTotals: traced("MigrationActions.setControlTotals")((caller, named, command) =>
      on(caller, named, "set_control_totals", (supplier) =>
        setControlTotals(deps, caller, supplier, command)
      )
    ),
    setStatus: traced("MigrationActions.setStatus")((caller, named, to) =>
      on(caller, named, "change_supplier_status", (of) => setStatus(deps, caller, of, to))
    ),
    setCohort: traced("MigrationActions.setCohort")((caller, named, command) =>
      on(caller, named, "move_accounts", (supplier) => Moves.move(deps, caller, supplier, command))
    ),
    move: traced("MigrationActions.move")(({ user }, named, move) =>
      seen(user, named, (of) => Moves.moveDetail(deps, of, move))
    ),
    undoMove: traced("MigrationActions.undoMove")((caller, named, move, command) =>
      on(caller, named, "move_accounts", (supplier) =>
        Moves.undoMove(deps, caller, supplier, move, command)
      )
    ),
    process: traced("MigrationActions.process")((caller, named, command) =>
      on(caller, named, "start_batch", (supplier) =>
        BatchActions.process(deps, caller, supplier, command)
      )
    ),
    preview: traced("MigrationActions.preview")(({ user }, named, command) =>
      seen(user, named, (supplier) => BatchActions.preview(deps, supplier, command))
    ),
    undoPreview: traced("MigrationActions.undoPreview")(({ user }, named, query) =>
      seen(user, named, (supplier) => undoPreview(deps, supplier, query))
    ),
    undo: traced("MigrationActions.undo")((caller, named, command) =>
      on(caller, named, "start_batch", (supplier) =>
        BatchActions.undo(deps, caller, supplier, command)
      )
    ),
    signOffState: traced("MigrationActions.signOffState")(({ user }, named) =>
      seen(user, named, (supplier) => signOffState(deps, user, supplier))
    ),
    signOff: traced("MigrationActions.signOff")((caller, named, command) =>
      on(caller, named, "sign_off", (supplier) => signOff(deps, caller, named, supplier, command))
    ),
    pauseBatch: traced("MigrationActions.pauseBatch")((caller, named) =>
      available(BatchActions.pause(deps, caller, named))
    ),
    resumeBatch: traced("MigrationActions.resumeBatch")((caller, named) =>
      available(BatchActions.resume(deps, caller, named))
    )
  })
})

/** Needs the storage ports. */
export const layer = Layer.effect(MigrationActions, make)
