/** A thread of a pool: it answers blocks in the order in which they come. */
import { parentPort, type Transferable } from "node:worker_threads"
import { Effect } from "effect"
import type { Block } from "../book/Block.ts"

/** An error ends the thread, and the pool notices that. */
export const answerBlocks = <Answer>(
  work: (block: Block) => Effect.Effect<Answer>,
  moved: (answer: Answer) => ReadonlyArray<Transferable> = () => []
): void => {
  parentPort?.on("message", (block: Block) => {
    const answer = Effect.runSync(work(block))
    parentPort?.postMessage(answer, moved(answer))
  })
}
