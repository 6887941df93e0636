/**
 * The accounts of a book by their numbers: where each is, and its fingerprint. Accounts that were
 * compared are taken out, so that what is missing is left.
 */
import type { SplitLine } from "@data-import/domain/batch/LineSplitter"
import { readLine } from "./BookAccount.ts"
import type { Finding, FindingKind } from "./Findings.ts"
import type { LinePlace, PlacedLine } from "./LineFile.ts"
import { Sums } from "./Sums.ts"

export interface IndexedLine extends LinePlace {
  /** Null of a line of which no account can be made. */
  readonly fingerprint: string | null
}

/** What is found about a line as a whole. */
export const lineFinding = (
  kind: FindingKind,
  { line, row }: LinePlace,
  number: string | null
): Finding => ({
  kind,
  line,
  ...(row !== null && { row }),
  external_account_number: number,
  kraken_account_number: null,
  path: ""
})

export class BookIndex {
  readonly #supplier: string
  readonly #lines = new Map<string, IndexedLine>()
  readonly sums = new Sums()
  #read = 0

  constructor(supplier: string) {
    this.#supplier = supplier
  }

  /** The lines that were read. */
  get read(): number {
    return this.#read
  }

  /** The numbers that are left, in the order of the book. */
  get left(): ReadonlyMap<string, IndexedLine> {
    return this.#lines
  }

  /** A line that repeats an earlier one exactly makes no other account, and so is none. */
  add({ bytes, ...place }: PlacedLine): Finding | null {
    this.#read++
    const read = readLine(bytes, this.#supplier)
    if (read.number === null) return lineFinding("INVALID", place, null)
    const { number } = read
    const earlier = this.#lines.get(number)
    const fingerprint = read.account === null ? null : read.fingerprint
    if (earlier !== undefined && earlier.fingerprint !== null) {
      if (earlier.fingerprint === fingerprint) return null
      return lineFinding(fingerprint === null ? "INVALID" : "REPEATED", place, number)
    }
    this.#lines.set(number, { ...place, fingerprint })
    if (read.account !== null) this.sums.add(read.balances)
    return earlier === undefined ? null : lineFinding("INVALID", earlier, number)
  }

  take(number: string): IndexedLine | undefined {
    const found = this.#lines.get(number)
    this.#lines.delete(number)
    return found
  }

  /** The account of a line that was read before; null if the line has changed since. */
  again(bytes: SplitLine, { fingerprint }: IndexedLine) {
    const read = readLine(bytes, this.#supplier)
    return read.account !== null && read.fingerprint === fingerprint ? read : null
  }
}
