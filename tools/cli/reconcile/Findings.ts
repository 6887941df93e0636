/** Findings in the form of the reports: as NDJSON, and as rows of CSV. */
import { csvOf as rowsOf } from "@data-import/domain/board/Csv"
import { byteOrderMark } from "../book/TextFile.ts"
import {
  type DifferenceKind,
  idColumns,
  type Ids
} from "@data-import/domain/accounts/AccountDifferences"

/** INVALID is a line that is not an account, REPEATED one with the number of an earlier line. */
export type FindingKind = DifferenceKind | "INVALID" | "REPEATED"

export interface Finding {
  readonly kind: FindingKind
  /** Null if it is not in the book. */
  readonly line: number | null
  /** Of a CSV book; of a further file with its name. */
  readonly row?: number | string
  readonly external_account_number: string | null
  /** Null if it is not stored. */
  readonly kraken_account_number: string | null
  /** Empty if it is about the whole account. */
  readonly path: string
  readonly ids?: Ids
  /** Of a missing account: the state of its import, null if nothing was staged. */
  readonly state?: string | null
  readonly book?: unknown
  readonly stored?: unknown
}

const columns = [
  "kind",
  "line",
  "row",
  "external_account_number",
  "kraken_account_number",
  "path",
  ...idColumns,
  "book",
  "stored",
  "state"
]

/** A value as text: JSON, except that a text is unchanged. */
export const valueText = (value: unknown): string | null => {
  if (value === undefined) return null
  return typeof value === "string" ? value : JSON.stringify(value)
}

const rowOf = (cells: ReadonlyArray<string | number | null | undefined>): string => rowsOf([cells])

export const csvHead = byteOrderMark + rowOf(columns)

export const csvOf = (finding: Finding): string =>
  rowOf([
    finding.kind,
    finding.line,
    finding.row,
    finding.external_account_number,
    finding.kraken_account_number,
    finding.path,
    ...idColumns.map((id) => finding.ids?.[id]),
    valueText(finding.book),
    valueText(finding.stored),
    finding.state
  ])

export const ndjsonOf = (finding: Finding): string => `${JSON.stringify(finding)}\n`
