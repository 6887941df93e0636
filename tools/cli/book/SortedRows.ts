/**
 * Rows sorted by the account that they belong to, in memory that does not grow with them: sorted
 * runs in a temporary file, which are merged while they are read. The file has no name, so that it
 * disappears with the process in every case.
 */
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A file without a name that only this process reads. */
export const unnamedFile = (): number => {
  const path = join(tmpdir(), `data-import-${crypto.randomUUID()}`)
  const file = openSync(path, "wx+", 0o600)
  unlinkSync(path)
  return file
}

/** A row with the place of its account in the book. */
export interface AccountRow {
  readonly account: number
  readonly row: number
  /** JSON. */
  readonly text: string
}

interface Run {
  readonly start: number
  readonly end: number
}

/** A run is written at this size, in characters. */
const runLength = 16 * 1024 * 1024
/** Beside its text, a row in memory has about this size. */
const rowLength = 100
const readAtOnce = 64 * 1024
const lineFeed = 0x0a

/** Reads a run from its beginning. */
class RunReader {
  readonly #file: number
  readonly #end: number
  #at: number
  #bytes = Buffer.alloc(0)
  #start = 0
  /** The next row; null at the end. */
  head: AccountRow | null = null

  constructor(file: number, { end, start }: Run) {
    this.#file = file
    this.#at = start
    this.#end = end
    this.next()
  }

  next(): void {
    let end = this.#bytes.indexOf(lineFeed, this.#start)
    while (end === -1 && this.#read()) end = this.#bytes.indexOf(lineFeed, this.#start)
    this.head = end === -1 ? null : this.#rowTo(end)
    this.#start = end + 1
  }

  #rowTo(end: number): AccountRow {
    const line = this.#bytes.toString("utf8", this.#start, end)
    const first = line.indexOf(" ")
    const second = line.indexOf(" ", first + 1)
    return {
      account: Number(line.slice(0, first)),
      row: Number(line.slice(first + 1, second)),
      text: line.slice(second + 1)
    }
  }

  /** False at the end of the run. */
  #read(): boolean {
    const part = Buffer.alloc(Math.min(readAtOnce, this.#end - this.#at))
    const length = part.length === 0 ? 0 : readSync(this.#file, part, 0, part.length, this.#at)
    if (length === 0) return false
    this.#at += length
    this.#bytes = Buffer.concat([this.#bytes.subarray(this.#start), part.subarray(0, length)])
    this.#start = 0
    return true
  }
}

export class SortedRows {
  readonly #file = unnamedFile()
  readonly #length: number
  #runs: Array<Run> = []
  #rows: Array<AccountRow> = []
  #held = 0
  #end = 0

  constructor(length = runLength) {
    this.#length = length
  }

  add(row: AccountRow): void {
    this.#rows.push(row)
    this.#held += row.text.length + rowLength
    if (this.#held >= this.#length) this.#write()
  }

  /** To be called after the last row. */
  finish(): void {
    if (this.#rows.length > 0) this.#write()
  }

  /** The rows from the first account on. Rows of an account keep their order. */
  reader(): AccountRows {
    return new AccountRows(this.#runs.map((run) => new RunReader(this.#file, run)))
  }

  close(): void {
    closeSync(this.#file)
  }

  #write(): void {
    // The sort is stable.
    const sorted = this.#rows.toSorted((one, other) => one.account - other.account)
    const start = this.#end
    let lines: Array<string> = []
    const flush = () => {
      const bytes = Buffer.from(lines.join(""))
      for (let at = 0; at < bytes.length; at += writeSync(this.#file, bytes, at));
      this.#end += bytes.length
      lines = []
    }
    for (const { account, row, text } of sorted) {
      if (lines.push(`${account} ${row} ${text}\n`) >= 1_000) flush()
    }
    flush()
    this.#runs.push({ start, end: this.#end })
    this.#rows = []
    this.#held = 0
  }
}

/** Reads the rows of one account after the other. */
class AccountRows {
  readonly #runs: ReadonlyArray<RunReader>

  constructor(runs: ReadonlyArray<RunReader>) {
    this.#runs = runs
  }

  /** Accounts must be taken in their order, and none left out. */
  *take(account: number): Generator<AccountRow> {
    for (const run of this.#runs) {
      for (; run.head?.account === account; run.next()) yield run.head
    }
  }
}
