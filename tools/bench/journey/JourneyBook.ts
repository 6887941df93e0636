/**
 * The book of the journey. A tenth of its lines are faulty: most faults are found offline, and the
 * others are documents that are not in the store yet.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { exampleAccount } from "@data-import/domain/account/ExampleAccount"
import { put, type Wire } from "@data-import/domain/testing/wire"

const { import_supplier: _, ...account } = exampleAccount
const notes = exampleAccount.notes.map(({ document_paths: __, ...note }) => note)

/** Of each hundred lines, `check` finds a fault in the ones that end in 9, except a late one. */
const isFaulty = (index: number): boolean => index % 10 === 9 && !isLate(index)

/** Of each hundred lines, one names a document that is uploaded late. */
const isLate = (index: number): boolean => index % 100 === 59

const faults: ReadonlyArray<readonly [path: string, value: string | number]> = [
  ["transfer_balance", "50.005"],
  ["customers.0.mobile", "12345"],
  ["billing_address.country", "XX"]
]

const linesOfDocument = 50

const pathOf = (index: number): string =>
  isLate(index)
    ? `statements/late-${index}.pdf`
    : `statements/${Math.floor(index / linesOfDocument)}.pdf`

const lineOf = (index: number): Wire => ({
  ...account,
  external_account_number: `J-${String(index).padStart(7, "0")}`,
  notes,
  statements: [{ ...exampleAccount.statements[0], statement_path: pathOf(index) }]
})

const spoiled = (line: Wire, index: number): Wire => {
  const [path, value] = faults[Math.floor(index / 10) % faults.length] ?? ["", ""]
  return isFaulty(index) ? put(line, path, value) : line
}

export interface JourneyBook {
  readonly accounts: number
  /** The number of lines in which `check` finds a fault. */
  readonly faulty: number
  /** The number of lines in which only the service finds a fault. */
  readonly late: number
  readonly documents: number
  /** Writes the book in its first form, and as corrected. */
  readonly write: (file: string) => void
  readonly writeCorrected: (file: string) => void
  readonly writeDocuments: (folder: string, which: "in time" | "late") => void
}

/** A book of this many accounts, in hundreds. */
export const journeyBook = (accounts: number): JourneyBook => {
  const indexes = Array.from({ length: accounts }, (_each, index) => index)
  const write = (file: string, made: (line: Wire, index: number) => Wire) =>
    writeFileSync(
      file,
      indexes.map((index) => `${JSON.stringify(made(lineOf(index), index))}\n`).join("")
    )
  const pathsOf = (which: "in time" | "late") =>
    new Set(indexes.filter((index) => isLate(index) === (which === "late")).map(pathOf))
  return {
    accounts,
    faulty: indexes.filter(isFaulty).length,
    late: indexes.filter(isLate).length,
    documents: pathsOf("in time").size,
    write: (file) => write(file, spoiled),
    writeCorrected: (file) => write(file, (line) => line),
    writeDocuments: (folder, which) => {
      for (const path of pathsOf(which)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), `A document at ${path}`)
      }
    }
  }
}
