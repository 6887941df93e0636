/** The documented answers and codes of errors that occurred in a run. */
import { isWire } from "@data-import/domain/testing/wire"
import type { Reply, Request } from "./Case.ts"
import { fieldCodes, operationAt, operations } from "./Document.ts"
import { errorsOf, outcomeOf } from "./Expectation.ts"

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
  readonly #outcomes = new Set<string>()
  readonly #fieldCodes = new Set<string>()
  #requests = 0
  #serverErrors = 0

  add(request: Request, reply: Reply): void {
    const asked = request.malformed === true ? undefined : operationAt(request.method, request.path)
    const id = asked?.id ?? "(none of them)"
    if (isWire(reply.value) || Array.isArray(reply.value) || reply.status === 304) {
      const code = reply.status < 400 ? String(reply.status) : outcomeOf(reply)
      this.#outcomes.add(`${id} ${code}`)
    }
    for (const error of errorsOf(reply)) {
      this.#fieldCodes.add(error.slice(error.lastIndexOf(" ") + 1))
    }
    if (reply.status >= 500) this.#serverErrors += 1
    this.#requests += 1
  }

  /** How many requests there were. */
  get requests(): number {
    return this.#requests
  }

  /** How many answers had a status of 500 or more, documented ones included. */
  get serverErrors(): number {
    return this.#serverErrors
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
}
