/**
 * The registry of codes: every code that the service can answer with, once, with its meaning, an
 * example and the remedy. The OpenAPI document, the documentation and the tests are made from it,
 * and no other code can be emitted. A code never changes; its wording here may.
 */
import type { CodeEntry } from "./CodeEntry.ts"
import { fieldCodes } from "./FieldCodes.ts"
import { requestCodes } from "./RequestCodes.ts"

export const registry = { ...requestCodes, ...fieldCodes } as const

export type Code = keyof typeof registry

type CodeOf<Kind extends CodeEntry["kind"]> = {
  [Key in Code]: (typeof registry)[Key]["kind"] extends Kind ? Key : never
}[Code]

/** The code of one error object. */
export type FieldCode = CodeOf<"field" | "both">
/** The top-level code of an answer. */
export type RequestCode = CodeOf<"request" | "both">
