/** A thread that checks blocks of lines, one after the other. */
import { parentPort, workerData } from "node:worker_threads"
import { DateTime, Effect } from "effect"
import { LineSplitter } from "@data-import/domain/batches/LineSplitter"
import type { Block } from "../book/Block.ts"
import { textOf } from "../reports/LineReport.ts"
import { type CheckedBlock, failedLineOf, placed, type WorkerSettings } from "./CheckedBlock.ts"
import { failedLines } from "./LineCheck.ts"

const { columns, reports, settings } = workerData as WorkerSettings

const check = ({ bytes, firstLine, lines, rows }: Block, now: DateTime.Utc): CheckedBlock => {
  const splitter = new LineSplitter()
  const split = [...splitter.feed(bytes), ...splitter.end()]
  const failed = failedLines(settings, { firstLine, lines: split }, now).map((wrong) => {
    const row = rows?.[wrong.result.line - firstLine]
    return columns === null || row === undefined ? wrong : placed(wrong, columns, row)
  })
  return {
    lines,
    failed: failed.map(failedLineOf),
    texts: reports.map((kind) =>
      failed.map((each) => textOf(kind, each, columns !== null)).join("")
    )
  }
}

// An error ends the thread, and the pool notices that.
parentPort?.on("message", (block: Block) => {
  const checked = Effect.runSync(Effect.map(DateTime.now, (now) => check(block, now)))
  parentPort?.postMessage(checked)
})
