/**
 * Account numbers that occur more than once in a book, with another content. Its memory grows with
 * the accounts: about 120 bytes for each.
 */
import { createHash } from "node:crypto"
import { inEnglish } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import type { BookRow } from "./Block.ts"
import { originOf } from "./Superseded.ts"

/** The place of a line: its number, or of a CSV book its row, with the file if there are several. */
export interface Place {
  readonly line: number
  readonly row: number | null
  readonly file: string | null
}

export const placeAt = (line: number, row: BookRow | undefined): Place => ({
  line,
  row: row?.number ?? null,
  file: row?.file ?? null
})

/** A line with the number of an earlier one. */
export interface Repetition extends Place {
  readonly number: string
  readonly first: Place
}

const digestBytes = 6

/** Lines with different digests are different. */
export const digestOf = (line: Uint8Array): number =>
  createHash("sha256").update(line).digest().readUIntBE(0, digestBytes)

interface First extends Place {
  readonly digest: number
}

export class RepeatedNumbers {
  readonly #firsts = new Map<string, First>()

  /** How many numbers there are. */
  get count(): number {
    return this.#firsts.size
  }

  /** The place of the first line with this number. */
  placeOf(number: string): Place | undefined {
    return this.#firsts.get(number)
  }

  /** The repetition that this line is. A line that repeats an earlier one exactly is none. */
  add(number: string | null, place: Place, digest: number): Repetition | null {
    if (number === null) return null
    const first = this.#firsts.get(number)
    if (first === undefined) {
      this.#firsts.set(number, { ...place, digest })
      return null
    }
    return first.digest === digest ? null : { ...place, number, first }
  }
}

export const placeText = ({ file, line, row }: Place): string => {
  if (row === null) return `line ${line}`
  return file === null ? `row ${row}` : originOf(file, row)
}

export const repetitionText = ({ first }: Repetition): string =>
  `The number is that of ${placeText(first)}, which has another content.`

const named = 5

export const repeatedRefusal = (book: string, repetitions: ReadonlyArray<Repetition>) => {
  const examples = repetitions
    .slice(0, named)
    .map((each) => `${each.number} (${placeText(each.first)} and ${placeText(each)})`)
  const more = repetitions.length > named ? ", and others" : ""
  const { length } = repetitions
  const count = length === 1 ? "1 line has" : `${inEnglish(length)} lines have`
  return new Refused({
    why:
      `${book}: ${count} the number of an earlier line and another content: ` +
      `${examples.join(", ")}${more}. Nothing was sent. Give each its own number, unless they are ` +
      "the same customer; then --last-wins sends the last line of each."
  })
}
