/** The data of the board over HTTP: each handler calls one program and wraps its answer. */
import { Effect } from "effect"
import { BoardGroup } from "@data-import/api/board/BoardApi"
import { AuditBoard } from "@data-import/domain/board/AuditBoard"
import { CommentBoard } from "@data-import/domain/board/CommentBoard"
import { ImportBoard } from "@data-import/domain/board/ImportBoard"
import { InvitationBoard } from "@data-import/domain/board/InvitationBoard"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import { WaveBoard } from "@data-import/domain/board/WaveBoard"
import { WaveReview } from "@data-import/domain/board/WaveReview"
import * as Answer from "@data-import/server/http/Answer"
import { batchOf, moveOf, numberOf, supplierOf } from "@data-import/server/routing/PathNames"
import * as CertificateHandlers from "./CertificateHandlers.ts"
import * as AccountFiles from "./AccountFiles.ts"
import * as Files from "./Files.ts"
import * as Guard from "./Guard.ts"
import * as SummaryHandlers from "./SummaryHandlers.ts"

const rowsOfPage = 100

const ok = <E, A>(effect: Effect.Effect<A, E>) =>
  Effect.map(effect, (body) => Answer.json(200, body))

export const routes = Effect.fnUntraced(function* (premises: Guard.GuardDependencies) {
  const actions = yield* MigrationActions
  const audit = yield* AuditBoard
  const comments = yield* CommentBoard
  const imports = yield* ImportBoard
  const invitations = yield* InvitationBoard
  const migrations = yield* MigrationBoard
  const waves = yield* WaveBoard
  const reviews = yield* WaveReview

  return Guard.handle(
    BoardGroup,
    {
      listMigrations: ({ session }) => ok(migrations.list(session.user)),
      getMigration: (call) => ok(migrations.detail(call.session.user, supplierOf(call))),
      getHistory: (call) => {
        const { cohort = null, step = "day" } = call.parameters
        return ok(migrations.history(call.session.user, supplierOf(call), { cohort, step }))
      },
      listControlTotals: (call) =>
        ok(migrations.controlTotals(call.session.user, supplierOf(call))),
      listCohorts: (call) => ok(migrations.cohorts(call.session.user, supplierOf(call))),
      getMove: (call) => ok(actions.move(call.session, supplierOf(call), moveOf(call))),
      reviewWave: (call) =>
        ok(reviews.read(call.session.user, supplierOf(call), call.parameters.cohort)),
      listWaves: (call) => ok(waves.list(call.session.user, supplierOf(call))),
      listBatches: (call) => ok(migrations.batches(call.session.user, supplierOf(call))),
      getBoardBatch: (call) =>
        ok(migrations.batch(call.session.user, supplierOf(call), batchOf(call))),
      listBatchLines: (call) => {
        const { after = 0, limit = rowsOfPage, ...filter } = call.parameters
        const query = { ...filter, after, limit }
        return ok(migrations.lines(call.session.user, supplierOf(call), batchOf(call), query))
      },
      listBoardOutcomeLines: (call) => {
        const { after: afterLine = 0, limit = rowsOfPage, ...filter } = call.parameters
        const query = { ...filter, afterLine, limit }
        return ok(migrations.outcome(call.session.user, supplierOf(call), batchOf(call), query))
      },
      listForecasts: (call) => ok(migrations.forecasts(call.session.user, supplierOf(call))),
      getProblems: (call) => {
        const { cohort = null } = call.parameters
        return ok(imports.problems(call.session.user, supplierOf(call), cohort))
      },
      listImports: (call) => {
        const { after = null, limit = rowsOfPage, ...filter } = call.parameters
        const query = { ...filter, after, limit }
        return ok(imports.imports(call.session.user, supplierOf(call), query))
      },
      listComments: (call) => {
        const query = { limit: rowsOfPage, ...call.parameters }
        return ok(comments.list(call.session.user, supplierOf(call), query))
      },
      listInvitations: (call) => ok(invitations.list(call.session.user, supplierOf(call))),
      ...(yield* AccountFiles.handlers),
      ...(yield* CertificateHandlers.handlers),
      ...(yield* SummaryHandlers.handlers),
      getBoardAccount: (call) =>
        ok(imports.account(call.session.user, supplierOf(call), numberOf(call))),
      listAudit: ({ parameters, session }) =>
        ok(audit.list(session.user, { limit: rowsOfPage, ...parameters })),
      exportAudit: ({ parameters, session }) =>
        Effect.map(audit.csv(session.user, parameters), (text) => Files.csv(text, "audit.csv"))
    },
    premises
  )
})
