/**
 * The accounts of a book by their numbers: the place and the fingerprint of each. Compared accounts
 * are removed, so that the missing ones are left.
 */
import { BigDecimal } from "effect"
import type { SplitLine } from "@data-import/domain/batches/LineSplitter"
import { zero } from "@data-import/domain/schema/Decimal"
import { readLine } from "./BookAccount.ts"
import type { Finding, FindingKind } from "./Findings.ts"
import type { LinePlace, PlacedLine } from "./LineFile.ts"
import { Sums } from "./Sums.ts"

export interface IndexedLine extends LinePlace {
  /** Null for a line that is not an account. */
  readonly fingerprint: string | null
}

/** A finding about a whole line. */
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
  /** Lines that repeat an earlier one exactly. */
  repetitions = 0
  /** The sum of the lines that are not accounts, and how many of them have no balance. */
  invalidBalance = zero
  withoutBalance = 0
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

  /** Adds a line. An exact repetition of an earlier line is not a finding. */
  add({ bytes, ...place }: PlacedLine): Finding | null {
    this.#read++
    const read = readLine(bytes, this.#supplier)
    if (read.account === null) this.#addInvalid(read.balance)
    if (read.number === null) return lineFinding("INVALID", place, null)
    const { number } = read
    const earlier = this.#lines.get(number)
    const fingerprint = read.account === null ? null : read.fingerprint
    if (earlier !== undefined && earlier.fingerprint !== null) {
      if (earlier.fingerprint === fingerprint) {
        this.repetitions++
        return null
      }
      return lineFinding(fingerprint === null ? "INVALID" : "REPEATED", place, number)
    }
    this.#lines.set(number, { ...place, fingerprint })
    if (read.account !== null) this.sums.add(read.balances)
    return earlier === undefined ? null : lineFinding("INVALID", earlier, number)
  }

  #addInvalid(balance: BigDecimal.BigDecimal | null): void {
    if (balance === null) this.withoutBalance++
    else this.invalidBalance = BigDecimal.sum(this.invalidBalance, balance)
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
