/** A thread that checks blocks of lines, one after the other. */
import { parentPort, workerData } from "node:worker_threads"
import { DateTime, Effect } from "effect"
import { LineSplitter } from "@data-import/domain/batch/LineSplitter"
import type { Block } from "../book/Block.ts"
import { textOf } from "../reports/LineReport.ts"
import { placed } from "../reports/PlacedErrors.ts"
import { type CheckedBlock, failedLineOf, type WorkerSettings } from "./CheckedBlock.ts"
import { type FailedLine, failedLines } from "./LineCheck.ts"

const { columns, reports, settings } = workerData as WorkerSettings

const check = ({ bytes, csv, firstLine, lines }: Block, now: DateTime.Utc): CheckedBlock => {
  const splitter = new LineSplitter()
  const split = [...splitter.feed(bytes), ...splitter.end()]
  const failed = failedLines(settings, { firstLine, lines: split }, now).map(
    (wrong): FailedLine => {
      const { result } = wrong
      const at = result.line - firstLine
      const row = csv?.rows[at]
      const isRow = csv !== undefined && row !== undefined && columns !== null
      const error = placed(result.error, split[at] ?? null, isRow ? { ...csv, row, columns } : null)
      return { ...wrong, result: { ...result, ...(isRow && { row: row.number }), error } }
    }
  )
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
