/**
 * Paths of documents in the object storage: relative to the root of the supplier, and never out of
 * it. Source: specification, "Document paths"; decisions, "Post-import".
 */
import { Schema } from "effect"
import { fieldCheck, nonBlank, trimmed } from "./Field.ts"
import type { Rule } from "./Rules.ts"

const maxLength = 1024

/** Names that a decoder behind us could turn into a separator, a dot or an end of string. */
const hiddenSeparator = /%(?:2e|2f|5c|00)/i

const isCleanSegment = (segment: string): boolean =>
  segment !== "" && segment !== "." && segment !== ".."

const isCleanPath = (path: string): boolean =>
  path.isWellFormed() &&
  !/\p{Cc}|\\/u.test(path) &&
  !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(path) &&
  !hiddenSeparator.test(path) &&
  path.split("/").every(isCleanSegment)

/**
 * The path without its optional leading slash: what is looked up, and what two paths are compared
 * by.
 */
export const relativePath = <P extends string>(path: P): P =>
  path.startsWith("/") ? (path.slice(1) as P) : path

/**
 * A clean relative path, 1 to 1,024 characters. Codes: `blank`, `max_length`,
 * `invalid_document_path`.
 */
export const DocumentPath = trimmed(
  nonBlank(maxLength).check(
    fieldCheck<string>((value) => isCleanPath(relativePath(value.trim())), {
      code: "invalid_document_path",
      detail: "Must be a path relative to the supplier's root, without . or .. segments."
    })
  )
).pipe(Schema.brand("DocumentPath"))
export type DocumentPath = typeof DocumentPath.Type

/** The file must be in the store, unless the supplier's configuration turns the check off. */
export const documentExists =
  <Field extends string>(field: Field): Rule<{ readonly [Key in Field]?: DocumentPath }> =>
  (value, { missingDocuments }, report) => {
    const path = value[field]
    if (path !== undefined && missingDocuments.has(relativePath(path))) {
      report("path_does_not_exist_in_file_store", "There is no file at this path.", field)
    }
  }
