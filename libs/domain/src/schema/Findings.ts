/**
 * What is found to be wrong with a body, up to a bound: beyond it nobody reads on, and a body made
 * of nothing but errors must not keep the service busy.
 * Source: docs/contract/errors.md#number-of-errors.
 */
import type { FieldCode } from "../codes/Code.ts"
import type { ErrorParameters } from "../codes/CodeEntry.ts"
import type { Path } from "./Json.ts"

/** What is wrong with a value, without its path. */
export interface Broken {
  readonly code: FieldCode
  readonly detail: string
  readonly parameters?: ErrorParameters
}

/** One broken rule: `attr` is the dot path from the account or request, list indexes zero-based. */
export interface FieldError extends Broken {
  readonly attr: string
}

export interface BrokenRule extends Broken {
  readonly path: Path
}

/** At most so many are listed. One more is looked for, to know whether there are more. */
export const maxErrors = 1_000

export class Findings {
  readonly #found: Array<BrokenRule> = []

  /** Beyond the bound it is enough to know that there are more. */
  add(broken: BrokenRule): void {
    if (!this.areMore) this.#found.push(broken)
  }

  /** Whether there are more than are listed, so that looking further finds nothing new. */
  get areMore(): boolean {
    return this.#found.length > maxErrors
  }

  get listed(): ReadonlyArray<BrokenRule> {
    return this.#found.slice(0, maxErrors)
  }
}
