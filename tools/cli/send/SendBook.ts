/**
 * Sends a part of a book as a batch, from where an earlier command ended. Each step leaves a trace
 * by which the next command sees that it was done: the batch, its lines, its state.
 * Source: docs/contract/batches.md.
 */
import { Effect, Option, Stream } from "effect"
import { type Batch, type CallError, DataImport, isCallError } from "@data-import/client/effect"
import { Refused } from "@data-import/terminal/Refused"
import type { BookFile } from "../book/BookFile.ts"
import { type Content, readingPart } from "./BookContent.ts"
import type { Part } from "./BookParts.ts"
import type { SendProgress } from "./SendProgress.ts"
import type { Send } from "./SendState.ts"

export interface Work {
  readonly book: BookFile
  readonly content: Content
  readonly part: Part
  readonly send: Send
  readonly progress: SendProgress
}

/** Whether the service has decided, so that there is no batch and will be none. */
const isFinal = (error: CallError): boolean =>
  error._tag === "ApiError" &&
  error.statusCode < 500 &&
  error.statusCode !== 408 &&
  error.statusCode !== 429 &&
  error.code !== "idempotency_key_in_use" &&
  error.code !== "authentication_failed"

const noSuchBatch = (batch_id: string) =>
  new Refused({
    isFinal: true,
    why:
      `An earlier command sent this book as the batch ${batch_id}, which does not exist for this ` +
      "API key. --new begins anew."
  })

/** The batch of this send, created once however often this is called. */
const ensureBatch = Effect.fnUntraced(function* ({ state, forget, remember }: Send) {
  const { batches } = yield* DataImport
  if (state.batch_id !== null) {
    const { batch_id } = state
    return yield* Effect.catchIf(
      batches.getBatch({ params: { batch_id } }),
      (error) => error.code === "not_found",
      () => Effect.fail(noSuchBatch(batch_id))
    )
  }
  const batch = yield* batches
    .createBatch({ payload: { payload: state.payload } }, { idempotencyKey: state.idempotency_key })
    .pipe(Effect.tapError((error) => (isCallError(error) && isFinal(error) ? forget : Effect.void)))
  yield* remember(batch.batch_id)
  // The answer may be a kept one, from before lines were sent.
  return yield* batches.getBatch({ params: { batch_id: batch.batch_id } })
})

const cancelledEarly = ({ batch_id }: Batch) =>
  new Refused({
    why:
      `The batch ${batch_id} was cancelled before all lines were sent; nothing of it was worked ` +
      "on. The same command sends the book as another batch."
  })

const changed = (book: string) =>
  new Refused({
    why:
      `${book} was changed while it was sent. Its batch is cancelled, and nothing of it was ` +
      "worked on. Send it again."
  })

/** Sends the lines that are not received yet, and starts the work. */
const upload = Effect.fnUntraced(function* (batch_id: string, work: Work) {
  const { book, content, part, progress, send } = work
  const { batches } = yield* DataImport
  const { bytes, isUnchanged } = yield* readingPart(book, content, part)
  const onReceived = (lines: number) => progress.sending(lines)
  yield* batches.upload(batch_id, bytes, { resume: true, gzip: true, onReceived })
  if (!isUnchanged()) {
    yield* batches.cancelBatch({ params: { batch_id } })
    yield* send.forget
    return yield* changed(book.name)
  }
  yield* batches.startBatch({
    params: { batch_id },
    payload: { payload: { total_lines: part.lines } }
  })
})

/** The batch when its last line has ended. */
export const followed = Effect.fnUntraced(function* (batch: Batch, progress: SendProgress) {
  const { batches } = yield* DataImport
  const last = batches.follow(batch.batch_id).pipe(
    Stream.tap((now) => Effect.sync(() => progress.working(now))),
    Stream.runLast
  )
  return Option.getOrElse(yield* last, () => batch)
})

/** As `followed`, after what is left to send was sent. */
export const sendPart = Effect.fnUntraced(function* (
  work: Work,
  onBatch: (batch: Batch) => Effect.Effect<void>
) {
  const batch = yield* ensureBatch(work.send)
  const { batch_id } = batch
  yield* onBatch(batch)
  if (batch.state === "OPEN") yield* upload(batch_id, work)
  const ended = yield* followed(batch, work.progress)
  if (ended.started_at === null) {
    yield* work.send.forget
    return yield* cancelledEarly(ended)
  }
  return ended
})
