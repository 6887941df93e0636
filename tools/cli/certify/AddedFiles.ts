/**
 * What was sent after the import: files with the body of a post-import request on each line, as
 * `send --operation` takes them. They are kept in memory, by the number of the account.
 */
import { Effect, Option, Result, Stream } from "effect"
import { LineSplitter, type SplitLine } from "@data-import/domain/batches/LineSplitter"
import { isObject } from "@data-import/domain/schema/Json"
import { parseBytesInSteps } from "@data-import/domain/schema/JsonBytes"
import { finish } from "@data-import/domain/support/Steps"
import { Refused } from "@data-import/terminal/Refused"
import { cannotRead } from "../book/Book.ts"
import { bookFile } from "../book/BookFile.ts"
import type { AddedLine, CertifySettings } from "./CertifiedBlock.ts"

const decoder = new TextDecoder()

const numberIn = (line: SplitLine): string | null => {
  const parsed = line === null ? null : finish(parseBytesInSteps(line))
  if (parsed === null || Result.isFailure(parsed) || !isObject(parsed.success)) return null
  const number = parsed.success["external_account_number"]
  return typeof number === "string" ? number.trim() : null
}

const noNumber = (place: string) =>
  new Refused({ why: `${place} names no external_account_number, so it was added to no account.` })

const linesOf = Effect.fnUntraced(function* (file: string) {
  const { open } = yield* bookFile({
    book: file,
    map: Option.none(),
    corrections: [],
    lastWins: false
  })
  const { blocks } = yield* open
  return Stream.fromAsyncIterable(blocks(), (error) => cannotRead(file, error)).pipe(
    Stream.flatMap(({ bytes, firstLine }) => {
      const splitter = new LineSplitter()
      const lines = [...splitter.feed(bytes), ...splitter.end()]
      return Stream.fromIterable(
        lines.map((line, at) => ({ line, place: `${file}:${firstLine + at}` }))
      )
    })
  )
})

/** Reads the files in their order. */
export const readAdded = Effect.fnUntraced(function* (files: ReadonlyArray<string>) {
  const added = new Map<string, Array<AddedLine>>()
  for (const file of files) {
    yield* Stream.runForEach(yield* linesOf(file), ({ line, place }) => {
      const number = numberIn(line)
      if (number === null || line === null) return Effect.fail(noNumber(place))
      const lines = added.get(number) ?? []
      lines.push({ place, text: decoder.decode(line) })
      added.set(number, lines)
      return Effect.void
    })
  }
  return added satisfies CertifySettings["added"]
})
