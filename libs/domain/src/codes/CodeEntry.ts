/** What the registry says of a code, and how an entry is written. */

/** `request`: the top-level code of an answer. `field`: the code of one error object, at its `attr`. */
export type CodeKind = "request" | "field"

export interface CodeEntry {
  readonly kind: CodeKind | "both"
  readonly meaning: string
  readonly example: string
  readonly remedy: string
}

export const request = (meaning: string, example: string, remedy: string) =>
  ({ kind: "request", meaning, example, remedy }) as const

export const field = (meaning: string, example: string, remedy: string) =>
  ({ kind: "field", meaning, example, remedy }) as const

export const both = (meaning: string, example: string, remedy: string) =>
  ({ kind: "both", meaning, example, remedy }) as const
