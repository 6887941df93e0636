/** Checks blocks of lines, in a thread or in the process of the command. */
import { DateTime, Effect } from "effect"
import { LineSplitter, type SplitLine } from "@data-import/domain/batches/LineSplitter"
import type { Block } from "../book/Block.ts"
import { digestOf } from "../book/RepeatedNumbers.ts"
import { textOf } from "../reports/LineReport.ts"
import { placed, rowMembers, type RowPlace } from "../reports/PlacedErrors.ts"
import {
  type CheckedBlock,
  failedLineOf,
  type ReportedLine,
  warnedLineOf,
  type WorkerSettings
} from "./CheckedBlock.ts"
import { checkedLines, type CheckedLine } from "./LineCheck.ts"
import { warningsOf } from "./Warnings.ts"

/** What is reported of a line: its failure, its warnings, or both. */
const reportedOf = (
  { failed, number }: CheckedLine,
  line: number,
  bytes: SplitLine,
  place: RowPlace | null
) => {
  const row = place === null ? {} : rowMembers(place)
  const error = failed === null ? null : placed(failed.result.error, bytes, place)
  const wrong = new Set(error?.errors?.map(({ attr }) => attr))
  const warnings = warningsOf(bytes, place, wrong)
  return {
    failed:
      failed === null || error === null
        ? null
        : { ...failed, result: { ...failed.result, ...row, error } },
    warned:
      warnings.length === 0
        ? null
        : { line, external_account_number: number, outcome: "WARNING" as const, ...row, warnings }
  }
}

/** A line that is not JSON has no number, although one may be found in it. */
const isParsed = (failed: CheckedLine["failed"]): boolean =>
  failed === null || failed.result.error.errors !== undefined

const checked = (
  { columns, reports, settings }: WorkerSettings,
  { bytes, csv, firstLine, lines }: Block,
  now: DateTime.Utc
): CheckedBlock => {
  const splitter = new LineSplitter()
  const split = [...splitter.feed(bytes), ...splitter.end()]
  const inOrder = checkedLines(settings, { firstLine, lines: split }, now)
  const reported = inOrder.map((line, at) => {
    const row = csv?.rows[at]
    const isRow = csv !== undefined && row !== undefined && columns !== null
    const place = isRow ? { ...csv, row, columns } : null
    return reportedOf(line, firstLine + at, split[at] ?? null, place)
  })
  const failed = reported.flatMap((each) => (each.failed === null ? [] : [each.failed]))
  const warned = reported.flatMap((each) => (each.warned === null ? [] : [each.warned]))
  const results: ReadonlyArray<ReportedLine> = reported.flatMap((each) => [
    ...(each.failed === null ? [] : [each.failed.result]),
    ...(each.warned === null ? [] : [each.warned])
  ])
  return {
    firstLine,
    lines,
    failed: failed.map(failedLineOf),
    warned: warned.map(warnedLineOf),
    numbers: inOrder.map(({ failed: wrong, number }) => (isParsed(wrong) ? number : null)),
    digests: split.map((line) => (line === null ? 0 : digestOf(line))),
    texts: reports.map((kind) =>
      results.map((result) => textOf(kind, result, columns !== null)).join("")
    )
  }
}

export const blockCheck =
  (settings: WorkerSettings) =>
  (block: Block): Effect.Effect<CheckedBlock> =>
    Effect.map(DateTime.now, (now) => checked(settings, block, now))
