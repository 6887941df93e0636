/**
 * The correction file: what the supplier of a migration has to correct, in words. A row is one
 * error of an account that has failed, or of a line that was refused before there was an account.
 * Source: docs/contract/board.md#correction-file.
 */
import { Result, Stream } from "effect"
import { registry } from "../codes/Code.ts"
import type { FailedAccount, RefusedLine } from "../migrations/ImportSearch.ts"
import { missingDocument } from "../migrations/SupplierSummary.ts"
import { fieldInWords } from "../accounts/FieldWords.ts"
import { isObject, parse } from "../schema/Json.ts"
import { wholePayload } from "../schema/Rules.ts"
import { csvOf } from "./Csv.ts"

const columns = [
  "External account number",
  "Batch",
  "Line",
  "Field",
  "What is wrong",
  "What to do",
  "Document",
  "Path",
  "Code"
] as const

/** The cells of a row, in the order of `columns`; the last is the code. */
export type CorrectionRow = ReadonlyArray<string | number | null>

export const correctionHead: CorrectionRow = columns

interface Failed {
  readonly code: string
  readonly attr: string
  readonly detail?: string
}

const entryOf = (code: string) => new Map(Object.entries(registry)).get(code)

/** The text at a path of a staged payload; null if it is none. */
const textAt = (payload: string | null, path: string): string | null => {
  const parsed = payload === null ? null : Result.getOrElse(parse(payload), () => null)
  const found = path
    .split(".")
    .reduce<unknown>(
      (value, name) =>
        (isObject(value) || Array.isArray(value)) && Object.hasOwn(value, name)
          ? (value as Readonly<Record<string, unknown>>)[name]
          : null,
      parsed
    )
  return typeof found === "string" ? found : null
}

interface Subject {
  readonly number: string | null
  readonly batch: string | null
  readonly line: number | null
  readonly payload: string | null
}

const rowOf =
  ({ batch, line, number, payload }: Subject) =>
  ({ attr, code, detail }: Failed): CorrectionRow => {
    const entry = entryOf(code)
    return [
      number,
      batch,
      line,
      fieldInWords(attr),
      detail ?? entry?.meaning ?? null,
      entry?.remedy ?? null,
      code === missingDocument ? textAt(payload, attr) : null,
      attr,
      code
    ]
  }

export const accountRows = ({
  errors,
  number,
  outcome,
  payload
}: FailedAccount): ReadonlyArray<CorrectionRow> => {
  const failed = errors.length > 0 ? errors : [{ code: outcome, attr: wholePayload }]
  return failed.map(rowOf({ number, batch: null, line: null, payload }))
}

const failedIn = (error: unknown): ReadonlyArray<Failed> => {
  if (!isObject(error) || typeof error["code"] !== "string") return []
  const { attr, code, detail } = error
  return [
    {
      code,
      attr: typeof attr === "string" ? attr : wholePayload,
      ...(typeof detail === "string" && { detail })
    }
  ]
}

/** The errors of the fields in the result of the line, or the error itself if it has none. */
export const lineRows = ({
  batch,
  line,
  number,
  result
}: RefusedLine): ReadonlyArray<CorrectionRow> => {
  const parsed = Result.getOrElse(parse(result), () => null)
  const error = isObject(parsed) ? parsed["error"] : null
  const errors = isObject(error) && Array.isArray(error["errors"]) ? error["errors"] : []
  const failed = (errors.length > 0 ? errors : [error]).flatMap(failedIn)
  return failed.map(rowOf({ number, batch, line, payload: null }))
}

/** As CSV in parts; the head comes with the first rows. */
export const correctionCsv = <E>(rows: Stream.Stream<CorrectionRow, E>) =>
  Stream.mapAccumArray(
    rows,
    () => csvOf([correctionHead]),
    (head, part) => ["", [head + csvOf(part)]] as const,
    { onHalt: (head) => [head] }
  ).pipe(Stream.filter((text) => text !== ""))
