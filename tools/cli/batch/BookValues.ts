/**
 * Results of a batch beside the book that it was made of. The service returns no values, because
 * they are personal data; here they come from the supplier's own file.
 */
import { Effect } from "effect"
import type { LineResult } from "@data-import/client/effect"
import { Refused } from "@data-import/terminal/Refused"
import type { BookFile } from "../book/BookFile.ts"
import { numberIn } from "../book/Superseded.ts"
import { rowMembers } from "../reports/PlacedErrors.ts"
import { readContent } from "../send/BookContent.ts"
import { partIn } from "../send/BookParts.ts"
import { failureOf, linesBeside, type NumberedLine } from "../send/FailedLines.ts"

const otherBook = (book: string, line: number) =>
  new Refused({
    why:
      `Line ${line} of ${book} is not the one that was sent. Name the book of the batch, with the ` +
      "same --map and --corrections."
  })

/** A line whose number cannot be read, or was erased, can only be taken by its place. */
const isSame = (found: NumberedLine | null, result: LineResult): found is NumberedLine => {
  if (found === null) return false
  const { erased, external_account_number: number } = result
  return erased === true || number === null || numberIn(found.content) === number
}

/** The line of the book that is the first of the batch, which may have a part of a large book. */
const firstLineOf = Effect.fnUntraced(function* (book: BookFile, batch: string) {
  const named = partIn(batch)
  if (named === null) return 1
  const { parts } = yield* readContent(book, { isByAccount: false, onRead: () => {} })
  return parts.length === named.parts ? (parts[named.part - 1]?.firstLine ?? 1) : 1
})

/**
 * Adds the row, and the columns and values of its errors, to results of a batch of this name, in
 * the order of the lines.
 */
export const withValues = Effect.fnUntraced(function* (book: BookFile, batch: string) {
  const firstLine = yield* firstLineOf(book, batch)
  const lineAt = yield* linesBeside(book)
  return Effect.fnUntraced(function* (result: LineResult) {
    const line = (result.source_line ?? result.line) + firstLine - 1
    const found = yield* lineAt(line)
    if (!isSame(found, result)) return yield* otherBook(book.name, line)
    const error = failureOf(result, found)
    const row = found.place === null ? {} : rowMembers(found.place)
    return { ...result, ...(error !== null && { error }), ...row }
  })
})
