/**
 * What migrations come to, over HTTP: the summary of one and what a sign-off or an undo would do,
 * and the programme of all.
 */
import { Effect } from "effect"
import { isOfSupplier } from "@data-import/domain/access/BoardUser"
import { CommentBoard } from "@data-import/domain/board/CommentBoard"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { MigrationBoard } from "@data-import/domain/board/MigrationBoard"
import { ProgrammeBoard } from "@data-import/domain/board/ProgrammeBoard"
import { programmeDocument } from "@data-import/domain/board/ProgrammeDocument"
import { summaryCsv, summaryDocument } from "@data-import/domain/board/SummaryDocument"
import { WaveBoard } from "@data-import/domain/board/WaveBoard"
import * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import { supplierOf } from "@data-import/server/routing/PathNames"
import * as Files from "./Files.ts"
import type { Signed } from "./Guard.ts"
import { pdfOf } from "./print/Pdf.ts"

type Asking = Pick<Call, "params"> & Signed

interface Previewing extends Asking {
  readonly parameters: { readonly cohort?: string; readonly with_additions?: boolean }
}

interface AskingForAll extends Signed {
  readonly parameters: { readonly organisation?: string }
}

const ok = <E, A>(effect: Effect.Effect<A, E>) =>
  Effect.map(effect, (body) => Answer.json(200, body))

/** The newest comments that a summary has. */
const commentsPrinted = 200

const noComments = { comments: [], next_before: null }

export const handlers = Effect.gen(function* () {
  const actions = yield* MigrationActions
  const comments = yield* CommentBoard
  const migrations = yield* MigrationBoard
  const programmes = yield* ProgrammeBoard
  const waves = yield* WaveBoard
  const programme = ({ parameters, session }: AskingForAll) =>
    programmes.read(session.user, parameters.organisation ?? null)
  const summary = (call: Asking) =>
    Effect.suspend(() => {
      const { user } = call.session
      const supplier = supplierOf(call)
      const isOwn = isOfSupplier(user)
      return Effect.all({
        detail: migrations.detail(user, supplier),
        signOff: actions.signOffState(call.session, supplier),
        totals: migrations.controlTotals(user, supplier),
        waves: isOwn ? Effect.succeed(null) : waves.list(user, supplier),
        comments: isOwn
          ? Effect.succeed(noComments)
          : comments.list(user, supplier, { limit: commentsPrinted })
      })
    }).pipe(Effect.map(summaryDocument))

  return {
    getProgramme: (call: AskingForAll) => ok(programme(call)),
    printProgramme: (call: AskingForAll) =>
      Effect.map(
        Effect.flatMap(programme(call), (answer) => pdfOf(programmeDocument(answer))),
        (bytes) => Files.pdf(bytes, "programme.pdf")
      ),
    getSignOff: (call: Asking) => ok(actions.signOffState(call.session, supplierOf(call))),
    previewUndo: (call: Previewing) => {
      const { cohort = null, with_additions = false } = call.parameters
      return ok(actions.undoPreview(call.session, supplierOf(call), { cohort, with_additions }))
    },
    exportSummary: (call: Asking) =>
      Effect.map(summary(call), (document) =>
        Files.csv(summaryCsv(document), Files.nameOf(call, "summary.csv"))
      ),
    printSummary: (call: Asking) =>
      Effect.map(Effect.flatMap(summary(call), pdfOf), (bytes) =>
        Files.pdf(bytes, Files.nameOf(call, "summary.pdf"))
      )
  }
})
