/**
 * Makes the sheet of a correction file in a thread: 50,000 rows take two seconds, in which the
 * board would answer nobody. One is made at a time, because each takes hundreds of megabytes.
 */
import { Effect, Semaphore } from "effect"
import { Worker } from "node:worker_threads"
import { correctionHead, type CorrectionRow } from "@data-import/domain/board/CorrectionFile"

const oneSheet = Semaphore.makeUnsafe(1)

const made = (rows: ReadonlyArray<CorrectionRow>) =>
  Effect.callback<Uint8Array>((resume) => {
    const thread = new Worker(new URL("./CorrectionSheetThread.ts", import.meta.url), {
      workerData: [correctionHead, ...rows]
    })
    thread.once("message", (bytes: Uint8Array) => resume(Effect.succeed(bytes)))
    thread.once("error", (error) => resume(Effect.die(error)))
    return Effect.promise(() => thread.terminate())
  })

export const sheetOf = (rows: ReadonlyArray<CorrectionRow>): Effect.Effect<Uint8Array> =>
  oneSheet.withPermit(made(rows))
