/**
 * The correction file: what the supplier of a migration has to correct, in words. A row is one
 * error of an account that has failed, or of a line that was refused before there was an account.
 * Source: docs/contract/board.md#correction-file.
 */
import { Stream } from "effect"
import type { FailedAccount, RefusedLine } from "../migrations/ImportSearch.ts"
import { missingDocument } from "../migrations/SupplierSummary.ts"
import { fieldInWords } from "../accounts/FieldWords.ts"
import { isObject } from "../schema/Json.ts"
import { wholePayload } from "../schema/Rules.ts"
import { errorsIn, resultOf } from "./BatchLines.ts"
import { csvOf } from "./Csv.ts"
import { explained } from "./MigrationBodies.ts"

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
  readonly detail?: string | undefined
}

/** The text at a path of a staged payload; null if it is none. */
const textAt = (staged: unknown, path: string): string | null => {
  const found = path
    .split(".")
    .reduce<unknown>(
      (value, name) =>
        (isObject(value) || Array.isArray(value)) && Object.hasOwn(value, name)
          ? (value as Readonly<Record<string, unknown>>)[name]
          : null,
      staged
    )
  return typeof found === "string" ? found : null
}

interface Subject {
  readonly number: string | null
  readonly batch: string | null
  readonly line: number | null
  /** The staged payload, if a document is missing. */
  readonly staged: unknown
}

const rowOf =
  ({ batch, line, number, staged }: Subject) =>
  ({ attr, code, detail }: Failed): CorrectionRow => {
    const { meaning, remedy } = explained(code)
    return [
      number,
      batch,
      line,
      fieldInWords(attr),
      detail ?? meaning,
      remedy,
      code === missingDocument ? textAt(staged, attr) : null,
      attr,
      code
    ]
  }

/** Whether the rows of the account need what is staged. */
export const lacksDocument = ({ errors }: FailedAccount): boolean =>
  errors.some(({ code }) => code === missingDocument)

export const accountRows = (
  { errors, number, outcome }: FailedAccount,
  staged: unknown
): ReadonlyArray<CorrectionRow> => {
  const failed = errors.length > 0 ? errors : [{ code: outcome, attr: wholePayload }]
  return failed.map(rowOf({ number, batch: null, line: null, staged }))
}

export const lineRows = ({
  batch,
  line,
  number,
  result
}: RefusedLine): ReadonlyArray<CorrectionRow> =>
  errorsIn(resultOf({ text: result })).map(rowOf({ number, batch, line, staged: null }))

/** As CSV in parts; the head comes with the first rows. */
export const correctionCsv = <E>(rows: Stream.Stream<CorrectionRow, E>) =>
  Stream.mapAccumArray(
    rows,
    () => csvOf([correctionHead]),
    (head, part) => ["", [head + csvOf(part)]] as const,
    { onHalt: (head) => [head] }
  ).pipe(Stream.filter((text) => text !== ""))
