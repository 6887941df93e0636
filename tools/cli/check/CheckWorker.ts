/** A thread that checks blocks of lines, one after the other. */
import { parentPort, workerData } from "node:worker_threads"
import { Effect } from "effect"
import { LineSplitter } from "@data-import/domain/batch/LineSplitter"
import type { Block } from "../book/Block.ts"
import { type CheckedBlock, failedLineOf, placed, type WorkerSettings } from "./CheckedBlock.ts"
import { textOf } from "../reports/LineReport.ts"
import { type FailedLine, makeLineCheck } from "./LineCheck.ts"

const { columns, reports, settings } = workerData as WorkerSettings

const checking = Effect.map(makeLineCheck(settings), (check) =>
  Effect.fnUntraced(function* ({ bytes, firstLine, lines, rows }: Block) {
    const splitter = new LineSplitter()
    const failed: Array<FailedLine> = []
    let line = firstLine
    for (const split of [...splitter.feed(bytes), ...splitter.end()]) {
      const row = rows?.[line - firstLine]
      const wrong = yield* check(line++, split)
      if (wrong === null) continue
      failed.push(columns === null || row === undefined ? wrong : placed(wrong, columns, row))
    }
    const checked: CheckedBlock = {
      lines,
      failed: failed.map(failedLineOf),
      texts: reports.map((kind) =>
        failed.map((each) => textOf(kind, each, columns !== null)).join("")
      )
    }
    return checked
  })
)

const check = await Effect.runPromise(checking)

/** Blocks are answered in the order in which they came; a check may pause in between. */
let last: Promise<unknown> = Promise.resolve()

parentPort?.on("message", (block: Block) => {
  // A rejection ends the thread with its error, which the pool hears of.
  last = last
    .then(() => Effect.runPromise(check(block)))
    .then((checked) => parentPort?.postMessage(checked))
})
