/**
 * The errors of a body, up to a limit, so that a body full of errors does not keep the service
 * busy.
 * Source: docs/contract/errors.md#number-of-errors.
 */
import type { FieldCode } from "../codes/Code.ts"
import type { ErrorParameters } from "../codes/CodeEntry.ts"
import type { Path } from "./Json.ts"

/** An error without its path. */
export interface Broken {
  readonly code: FieldCode
  readonly detail: string
  readonly parameters?: ErrorParameters
}

/**
 * A broken rule. `attr` is the dot path from the account or request, with zero-based list indexes.
 */
export interface FieldError extends Broken {
  readonly attr: string
}

export interface BrokenRule extends Broken {
  readonly path: Path
}

/** A path with `*` for list indexes: `customers.0.given_name` is `customers.*.given_name`. */
export const withoutIndexes = (attr: string): string =>
  attr.replaceAll(/(?<=^|\.)\d+(?=\.|$)/g, "*")

/** The maximum number of listed errors. One more is collected, to know whether there are more. */
export const maxErrors = 1_000

export class FieldErrors {
  readonly #found: Array<BrokenRule> = []

  /** Beyond the limit, only the fact that there are more counts. */
  add(broken: BrokenRule): void {
    if (!this.areMore) this.#found.push(broken)
  }

  /** Whether there are more than the limit, so that validation can stop. */
  get areMore(): boolean {
    return this.#found.length > maxErrors
  }

  get listed(): ReadonlyArray<BrokenRule> {
    return this.#found.slice(0, maxErrors)
  }
}
