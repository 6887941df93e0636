/** Notes for a reader of a report besides the problems, a sentence each. */
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import { inEnglish } from "@data-import/terminal/Answer"
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

export const notesOf = (
  result: CheckResult,
  configuration: SupplierConfiguration,
  isConfigured: boolean
): ReadonlyArray<string> => {
  const today = `The business day is that of the time zone ${configuration.timeZone}`
  const assumed = `${today}, and no choices were added; --configuration tells those of the supplier.`
  const { lines } = batchLimits
  const isTooLong = result.lines > lines
  return [
    supplierNote(result, configuration),
    isConfigured ? `${today}.` : assumed,
    notChecked,
    ...(isTooLong ? [`A batch may have ${inEnglish(lines)} lines: send the book in parts.`] : [])
  ]
}
