/** The batches of a tenant, and the chunks that workers hold. */
import { Clock, Data, Duration, Effect, Schema } from "effect"
import { rowsOf } from "@data-import/postgres/connection/Database"
import { System } from "@data-import/testbed/System"
import * as BatchClient from "./BatchClient.ts"
import { linesOf, markerBefore, type SentLine, stagedBefore } from "./BatchLines.ts"
import type { Work } from "./Work.ts"

export { verifyBatch } from "./BatchVerification.ts"

/** A started batch of these lines. */
export const runBatch = Effect.fnUntraced(function* (
  { findings, session, tenant }: Work,
  operation: Parameters<typeof BatchClient.create>[3],
  lines: ReadonlyArray<SentLine>
) {
  const batch = yield* BatchClient.create(tenant, session, findings, operation)
  yield* batch.upload(lines)
  yield* batch.start(lines.length)
  return batch
})

/** An open IMPORT batch, its lines, and what must be staged before it. */
export const prepare = Effect.fnUntraced(function* (work: Work, prefix: string, count: number) {
  const { random } = yield* System
  const { findings, session, tenant, writes } = work
  const lines = linesOf(random, prefix, count)
  const before = stagedBefore(lines)
  const staging = yield* runBatch(work, "STAGE", before)
  yield* staging.ended
  for (const { account } of before) {
    if (account !== null) writes.staged(writes.of(account.number), markerBefore)
  }
  const { counts } = yield* staging.read()
  if (counts.succeeded !== before.length) findings.add("wrong", "not everything was staged before")
  const batch = yield* BatchClient.create(tenant, session, findings, "IMPORT")
  return { batch, lines }
})

const Chunk = Schema.Struct({ firstLine: Schema.Int, unfinished: Schema.Int })
type Chunk = typeof Chunk.Type

const chunkRows = rowsOf(Chunk)

/** The chunks of the batch that workers hold. */
export const inHand = Effect.fnUntraced(function* (batch: string) {
  const { run, sql } = (yield* System).database
  return yield* run(
    chunkRows(sql`
      select first_line as "firstLine", unfinished from batch_chunks
        join batch_takes using (batch, first_line)
      where batch = ${batch} and takes > 0 and unfinished > 0`)
  )
})

/** Lines of a dead worker were not taken over in time. */
class NotTakenOver extends Data.TaggedError("NotTakenOver")<{ readonly first: number }> {
  override get message(): string {
    return `the lines from ${this.first} on were not taken over within two minutes`
  }
}

/** Waits until lines of each of the chunks have ended; returns how many seconds that took. */
export const takenOver = Effect.fnUntraced(function* (batch: string, chunks: ReadonlyArray<Chunk>) {
  const { run, sql } = (yield* System).database
  const began = yield* Clock.currentTimeMillis
  let left = chunks
  while (left.length > 0) {
    const lines = left.map(({ firstLine }) => firstLine)
    const now = yield* Effect.result(
      run(
        chunkRows(sql`
          select first_line as "firstLine", unfinished from batch_chunks
          where batch = ${batch} and first_line = any(${lines}::integer[])`)
      )
    )
    const unfinished = new Map(
      now._tag === "Success" ? now.success.map((chunk) => [chunk.firstLine, chunk.unfinished]) : []
    )
    left = left.filter((chunk) => (unfinished.get(chunk.firstLine) ?? Infinity) >= chunk.unfinished)
    const seconds = ((yield* Clock.currentTimeMillis) - began) / 1_000
    const [first] = left
    if (first === undefined) return seconds
    if (seconds > 120) return yield* new NotTakenOver({ first: first.firstLine })
    yield* Effect.sleep(Duration.millis(50))
  }
  return 0
})
