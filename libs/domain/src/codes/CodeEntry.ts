/** The shape of an entry of the code registry. */

/** `request`: the top-level code of an answer. `field`: the code of an error at its `attr`. */
export type CodeKind = "request" | "field"

/**
 * What an error is about, so that clients need not parse its detail. Decimals are exact and written
 * as text.
 * Source: docs/contract/errors.md#parameters
 */
export interface ErrorParameters {
  /** The bound that was exceeded: a count, a number, a day or an instant. */
  readonly limit?: number | string
  /** The value that was sent, or a count. */
  readonly actual?: number | string
  /** The expected value, or type of value. */
  readonly expected?: number | string
  /** `actual` minus `expected`. */
  readonly difference?: string
  /** The nearest documented name. */
  readonly nearest?: string
  readonly allowed?: ReadonlyArray<string>
  /** Which part of the rule is broken, in one word, where the code has several. */
  readonly reason?: string
  /** Which elements break the rule: their ids, or zero-based indexes where they have none. */
  readonly ids?: ReadonlyArray<number | string>
  /** The business day by which the rule was applied: on another day the result may be another. */
  readonly business_day?: string
}

export type ErrorParameter = keyof ErrorParameters

export interface CodeEntry {
  readonly kind: CodeKind | "both"
  readonly meaning: string
  readonly example: string
  readonly remedy: string
  /** The parameters that an error of the code may have. */
  readonly parameters: ReadonlyArray<ErrorParameter>
}

export const request = (
  meaning: string,
  example: string,
  remedy: string,
  ...parameters: ReadonlyArray<ErrorParameter>
) => ({ kind: "request", meaning, example, remedy, parameters }) as const

export const field = (
  meaning: string,
  example: string,
  remedy: string,
  ...parameters: ReadonlyArray<ErrorParameter>
) => ({ kind: "field", meaning, example, remedy, parameters }) as const

export const both = (
  meaning: string,
  example: string,
  remedy: string,
  ...parameters: ReadonlyArray<ErrorParameter>
) => ({ kind: "both", meaning, example, remedy, parameters }) as const
