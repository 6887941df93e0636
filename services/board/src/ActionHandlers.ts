/** The actions of managers over HTTP: each handler calls one program and wraps its answer. */
import { Effect } from "effect"
import { actionBodies } from "@data-import/api/board/ActionBodies"
import { BoardActionGroup } from "@data-import/api/board/BoardApi"
import type { BoardCaller } from "@data-import/domain/board/BoardCaller"
import { CertificateBoard } from "@data-import/domain/board/CertificateBoard"
import { CommentBoard } from "@data-import/domain/board/CommentBoard"
import { ImportBoard } from "@data-import/domain/board/ImportBoard"
import { InvitationBoard } from "@data-import/domain/board/InvitationBoard"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { WaveBoard } from "@data-import/domain/board/WaveBoard"
import { WaveReview } from "@data-import/domain/board/WaveReview"
import { controlTotalsRules } from "@data-import/domain/migrations/ControlTotals"
import * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import {
  batchOf,
  invitationOf,
  moveOf,
  numberOf,
  supplierOf
} from "@data-import/server/routing/PathNames"
import { bodyOf } from "./Bodies.ts"
import * as Guard from "./Guard.ts"
import { invitationPath } from "./SignIn.ts"

const bodies = {
  plan: bodyOf(actionBodies.plan),
  controlTotals: bodyOf(actionBodies.controlTotals, controlTotalsRules),
  status: bodyOf(actionBodies.status),
  comment: bodyOf(actionBodies.comment),
  cohort: bodyOf(actionBodies.cohort),
  undoMove: bodyOf(actionBodies.undoMove),
  processing: bodyOf(actionBodies.processing),
  preview: bodyOf(actionBodies.preview),
  undo: bodyOf(actionBodies.undo),
  decision: bodyOf(actionBodies.decision),
  wave: bodyOf(actionBodies.wave),
  signOff: bodyOf(actionBodies.signOff),
  certificate: bodyOf(actionBodies.certificate),
  invitation: bodyOf(actionBodies.invitation),
  document: bodyOf(actionBodies.document)
}

type Acting = Call & Guard.Signed & { readonly body: unknown }

const ok = <E, A>(effect: Effect.Effect<A, E>) =>
  Effect.map(effect, (body) => Answer.json(200, body))

/** An action that has a body. */
const acting =
  <Body, A, E, F>(
    read: (call: Acting) => Effect.Effect<Body, E>,
    act: (caller: BoardCaller, supplier: string, body: Body) => Effect.Effect<A, F>
  ) =>
  (call: Acting) =>
    ok(Effect.flatMap(read(call), (body) => act(Guard.callerOf(call), supplierOf(call), body)))

export const routes = Effect.fnUntraced(function* (premises: Guard.GuardDependencies) {
  const actions = yield* MigrationActions
  const certificates = yield* CertificateBoard
  const comments = yield* CommentBoard
  const imports = yield* ImportBoard
  const invitations = yield* InvitationBoard
  const waves = yield* WaveBoard
  const reviews = yield* WaveReview

  return Guard.handle(
    BoardActionGroup,
    {
      setPlan: acting(bodies.plan, actions.setPlan),
      setBoardControlTotals: acting(bodies.controlTotals, actions.setControlTotals),
      setStatus: acting(bodies.status, actions.setStatus),
      addComment: acting(bodies.comment, comments.add),
      setCohort: acting(bodies.cohort, actions.setCohort),
      undoMove: (call: Acting) =>
        ok(
          Effect.flatMap(bodies.undoMove(call), (body) =>
            actions.undoMove(Guard.callerOf(call), supplierOf(call), moveOf(call), body)
          )
        ),
      processCohort: acting(bodies.processing, actions.process),
      previewProcess: acting(bodies.preview, actions.preview),
      undoWave: acting(bodies.undo, actions.undo),
      decideWave: acting(bodies.decision, reviews.decide),
      planWave: acting(bodies.wave, waves.plan),
      signOff: acting(bodies.signOff, actions.signOff),
      issueBoardCertificate: acting(bodies.certificate, certificates.issue),
      inviteSupplier: (call: Acting) =>
        ok(
          Effect.gen(function* () {
            const asked = yield* bodies.invitation(call)
            const caller = Guard.callerOf(call)
            const { secret, ...rest } = yield* invitations.invite(caller, supplierOf(call), asked)
            const { origin } = premises.publicUrl ?? call.place
            return { url: `${origin}${invitationPath}${secret}/`, ...rest }
          })
        ),
      revokeInvitation: (call) =>
        Effect.as(
          invitations.revoke(Guard.callerOf(call), supplierOf(call), invitationOf(call)),
          Answer.json(200, {})
        ),
      pauseBoardBatch: (call) => ok(actions.pauseBatch(Guard.callerOf(call), batchOf(call))),
      resumeBoardBatch: (call) => ok(actions.resumeBatch(Guard.callerOf(call), batchOf(call))),
      reveal: (call) => ok(imports.reveal(Guard.callerOf(call), supplierOf(call), numberOf(call))),
      linkDocument: (call: Acting) =>
        ok(
          Effect.flatMap(bodies.document(call), ({ document }) =>
            imports.link(Guard.callerOf(call), supplierOf(call), numberOf(call), document)
          )
        )
    },
    premises
  )
})
