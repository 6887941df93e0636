/** Notes for a reader of a report besides the problems, a sentence each. */
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import { inEnglish } from "@data-import/terminal/Answer"
import type { ColumnsByAttr } from "../book/ColumnMap.ts"
import type { CheckResult } from "./CheckBook.ts"
import type { SupplierConfiguration } from "./SupplierConfiguration.ts"

const notChecked =
  "Not checked, because only the server knows: whether the import supplier exists, and whether " +
  "the documents are in the store."

const supplierNote = (result: CheckResult, { supplier }: SupplierConfiguration) => {
  if (result.supplier === null) {
    return "The book names no import supplier; --supplier tells whose it is."
  }
  return supplier === null
    ? `The import supplier is ${result.supplier}, the first that the book names.`
    : `The import supplier is ${supplier}.`
}

/** A book that writes a debt as a positive number fails nearly all of its balances. */
const reversedNotes = (
  { lines, problems }: CheckResult,
  columns: ColumnsByAttr
): ReadonlyArray<string> =>
  problems.flatMap(({ code, examples, lines: failed, reversed }) => {
    if (reversed < 2 || reversed * 2 < failed) return []
    // The detail begins with the name of the stated balance.
    const [balance = ""] = (examples[0]?.detail ?? "").split(":")
    const column = Object.entries(columns).find(([attr]) => `.${attr}`.endsWith(`.${balance}`))
    const name = column?.[1].join(", ") ?? balance
    return [
      `${inEnglish(failed)} of ${inEnglish(lines)} lines fail ${code}; ${inEnglish(reversed)} would ` +
        `pass with the sign of ${name} reversed: "negate" in the map does that.`
    ]
  })

export const notesOf = (
  result: CheckResult,
  configuration: SupplierConfiguration,
  { columns, isConfigured }: { readonly columns: ColumnsByAttr; readonly isConfigured: boolean }
): ReadonlyArray<string> => {
  const today = `The business day is that of the time zone ${configuration.timeZone}`
  const assumed = `${today}, and no choices were added; --configuration tells those of the supplier.`
  const { lines } = batchLimits
  const isTooLong = result.lines > lines
  return [
    ...reversedNotes(result, columns),
    supplierNote(result, configuration),
    isConfigured ? `${today}.` : assumed,
    notChecked,
    ...(isTooLong
      ? [`A batch may have ${inEnglish(lines)} lines: send makes several of this book.`]
      : [])
  ]
}
