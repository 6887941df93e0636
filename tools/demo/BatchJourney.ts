/**
 * The third part of the journey: a whole book is sent as a batch, its failures are read in groups,
 * and the corrected lines are sent as a second batch, until every account is imported.
 */
import { Schema } from "effect"
import * as Book from "./Book.ts"
import type { ResponsePattern } from "./ResponsePattern.ts"
import { get, instant, type Known, post, put, type Step } from "./Step.ts"

const batches = "/v1/data-import/batches/"

const pathOf = ({ batchId }: Known, rest = "") => `${batches}${batchId}/${rest}`

/** The longest time that an answer may wait for a change, in seconds. */
const wait = 20

const CreatedBatch = Schema.Struct({ batch_id: Schema.String })

const create = (title: string, name: string): Step => ({
  title,
  request: ({ demo, number, token }) => {
    const payload = {
      import_supplier: demo.importSupplier,
      operation: "IMPORT",
      name,
      operations_team_name: demo.operationsTeamName
    }
    return { ...post(batches, { payload }, token), key: `${number}-${name}` }
  },
  status: 201,
  body: () => ({ state: "OPEN", name, counts: { received: 0, remaining: 0 } }),
  learn: (body) => ({ batchId: Schema.decodeUnknownSync(CreatedBatch)(body).batch_id })
})

const upload = (title: string, lines: (known: Known) => ReadonlyArray<string>): Step => ({
  title,
  request: (known) => put(pathOf(known, "lines/"), lines(known), known.token),
  status: 200,
  body: (known) => ({ lines_received: lines(known).length })
})

const start = (total: (known: Known) => number): Step => ({
  title: "Start it",
  request: (known) => {
    const body = { payload: { total_lines: total(known) } }
    return post(pathOf(known, "start/"), body, known.token)
  },
  status: 200,
  body: (known) => ({ started_at: instant, counts: { received: total(known) } })
})

interface Counts {
  readonly received: number
  readonly succeeded: number
  readonly already: number
  readonly failed: number
}

const watch = (counts: Counts): Step => ({
  title: "Watch it until it has ended: each answer comes with the next change",
  request: (known) => get(pathOf(known, `?wait=${wait}`), known.token),
  watched: true,
  status: 200,
  body: () => ({
    state: counts.failed > 0 ? "COMPLETED_WITH_FAILURES" : "COMPLETED",
    counts: { ...counts, cancelled: 0, remaining: 0 },
    finished_at: instant
  })
})

const failed = Book.problems.at(-1)?.cleared_lines ?? 0
const copies = Book.count(Book.isCopy)
/** Lines that failed, and whose account a later line of the book has imported. */
const corrections = Book.count(Book.isCorrection)

const ofBook: Counts = {
  received: Book.lineCount,
  succeeded: Book.lineCount - failed - copies,
  already: copies,
  failed
}
const ofCorrections: Counts = {
  received: failed,
  succeeded: failed - corrections,
  already: corrections,
  failed: 0
}

const FailedLines = Schema.Array(Schema.Struct({ line: Schema.Int }))

const book: ReadonlyArray<Step> = [
  create("Create a batch", "book"),
  upload(`Send ${Book.lineCount} lines, as gzip`, ({ number }) => Book.linesOf(number)),
  start(() => Book.lineCount),
  watch(ofBook),
  {
    title: "Ask for its problems: six, which a few corrections clear",
    request: (known) => get(pathOf(known, "problems/"), known.token),
    status: 200,
    body: () => ({ failed_lines: failed, problems: Book.problems })
  },
  {
    title: "Read the results of the lines that have failed",
    request: (known) => get(pathOf(known, "results/?outcome=FAILED"), known.token),
    status: 200,
    body: ({ number }) => Book.failures(number),
    learn: (body) => ({
      failedLines: Schema.decodeUnknownSync(FailedLines)(body).map(({ line }) => line)
    })
  }
]

const imported = (known: Known): ResponsePattern =>
  Book.numbersOf(known.number).map((external_account_number) => ({
    external_account_number,
    kraken_account_number: /^A-/,
    account_created_at: instant
  }))

const rest: ReadonlyArray<Step> = [
  create("Create a batch for the corrected lines", "corrections"),
  upload("Send them, as gzip", ({ failedLines, number }) => Book.corrected(number, failedLines)),
  start(({ failedLines }) => failedLines.length),
  watch(ofCorrections),
  {
    title: "List the imported accounts of the book: all of them",
    request: ({ demo, number, token }) => {
      const { length } = Book.numbersOf(number)
      const path = `/v1/data-import/imported-account-import-processes/${demo.importSupplier}/`
      return get(`${path}?limit=${length}&after=${number}`, token)
    },
    status: 200,
    body: imported
  }
]

/** In the order in which they are walked. */
export const batchJourney: ReadonlyArray<Step> = [...book, ...rest]
