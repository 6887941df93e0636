/**
 * Statistics of a run: the answers of each operation by kind of case, the documented answers that
 * occurred, and the response times.
 */
import { isWire } from "@data-import/domain/testing/wire"
import type { Kind, Reply, Request } from "./Case.ts"
import { fieldCodes, operationAt, operations } from "./Document.ts"
import { errorsOf, outcomeOf } from "./Expectation.ts"

/** Requests that only prepare what a case is about. */
type Column = Kind | "before"

/** A request and its answer. */
export interface Exchange {
  readonly request: Request
  readonly reply: Reply
  readonly column: Column
  readonly milliseconds: number
}

/** A documented answer, as `operation status code`. */
const documented: ReadonlyArray<string> = operations.flatMap(({ answers, id }) =>
  [...answers].flatMap(([status, codes]) =>
    codes.length === 0 ? [`${id} ${status}`] : codes.map((code) => `${id} ${status} ${code}`)
  )
)

/**
 * Answers of a service that is broken, overloaded or stopping, which no request causes; of a
 * sandbox with a batch, which would keep every other plan from emptying it; and of an organisation
 * whose batches store all that they may, which would keep every other plan from uploading; of a
 * certificate that takes long; and of a revert of an account that is old, or of a migration that is
 * complete.
 */
const codesOfTrouble = [
  "202",
  "409 sandbox_in_use",
  "409 storage_limit_exceeded",
  "429 certificate_limit_exceeded",
  "429 throttled",
  "500 error",
  "503 service_unavailable",
  "409 revert_window_closed",
  "409 payload_not_kept",
  "revertImport 400 import_supplier_migration_not_ongoing"
]

const isOfTrouble = (answer: string): boolean =>
  codesOfTrouble.some((code) => ` ${answer}`.endsWith(` ${code}`))

export class Tally {
  readonly #counts = new Map<string, Map<number, number>>()
  readonly #outcomes = new Set<string>()
  readonly #fieldCodes = new Set<string>()
  readonly #times: Array<number> = []
  #slowest = { milliseconds: 0, what: "" }
  #serverErrors = 0

  add({ column, milliseconds, reply, request }: Exchange): void {
    const asked = request.malformed === true ? undefined : operationAt(request.method, request.path)
    const id = asked?.id ?? "(none of them)"
    const row = `${id} ${column}`
    const counts = this.#counts.get(row) ?? new Map<number, number>()
    counts.set(reply.status, (counts.get(reply.status) ?? 0) + 1)
    this.#counts.set(row, counts)
    if (isWire(reply.value) || Array.isArray(reply.value) || reply.status === 304) {
      const code = reply.status < 400 ? String(reply.status) : outcomeOf(reply)
      this.#outcomes.add(`${id} ${code}`)
    }
    for (const error of errorsOf(reply)) {
      this.#fieldCodes.add(error.slice(error.lastIndexOf(" ") + 1))
    }
    if (reply.status >= 500) this.#serverErrors += 1
    this.#times.push(milliseconds)
    if (milliseconds > this.#slowest.milliseconds) {
      this.#slowest = { milliseconds, what: `${request.method} ${request.path.slice(0, 80)}` }
    }
  }

  /** How many requests there were. */
  get requests(): number {
    return this.#times.length
  }

  /** How many answers had a status of 500 or more, documented ones included. */
  get serverErrors(): number {
    return this.#serverErrors
  }

  get slowest(): { readonly milliseconds: number; readonly what: string } {
    return this.#slowest
  }

  /** Milliseconds within which this share of the answers came. */
  within(share: number): number {
    const sorted = this.#times.toSorted((one, other) => one - other)
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  }

  /** Documented answers that never came; separately those that only a service in trouble gives. */
  unseen(): {
    readonly reachable: ReadonlyArray<string>
    readonly ofTrouble: ReadonlyArray<string>
  } {
    const missing = documented.filter((answer) => !this.#outcomes.has(answer))
    return {
      reachable: missing.filter((answer) => !isOfTrouble(answer)),
      ofTrouble: missing.filter(isOfTrouble)
    }
  }

  /** Codes of error objects that never came. */
  unseenFieldCodes(): ReadonlyArray<string> {
    return fieldCodes.filter((code) => !this.#fieldCodes.has(code))
  }

  /** One line for each operation and kind, with how often each status came. */
  table(): ReadonlyArray<string> {
    const rows = [...this.#counts].toSorted(([one], [other]) => (one < other ? -1 : 1))
    return rows.map(([row, counts]) => {
      const columnFrom = row.lastIndexOf(" ") + 1
      const [id, column] = [row.slice(0, columnFrom - 1), row.slice(columnFrom)]
      const statuses = [...counts].toSorted(([one], [other]) => one - other)
      const columns = statuses.map(([status, count]) => `${status} × ${count}`).join("   ")
      return `${id.padEnd(28)} ${column.padEnd(10)} ${columns}`
    })
  }
}
