/**
 * Paths of documents in the object storage, relative to the supplier's root and never outside of
 * it.
 * Source: docs/contract/values.md#document-paths.
 */
import { Schema } from "effect"
import { fieldCheck, hasControlCharacter, nonBlank, trimmed } from "./Field.ts"
import { eachValid, type Rule } from "./Rules.ts"
import { leavesOf, type SchemaTree } from "./SchemaTree.ts"
import type { Steps } from "../support/Steps.ts"

const maxLength = 1024

/** Escapes that a later decoder could turn into a separator, a dot or an end of string. */
const hiddenSeparator = /%(?:2e|2f|5c|00)/i

/** An empty segment, `.` or `..`. */
const uncleanSegment = /(?:^|\/)\.{0,2}(?:\/|$)/

/** The path without its optional leading slash, for lookups and comparisons. */
export const relativePath = <P extends string>(path: P): P =>
  path.startsWith("/") ? (path.slice(1) as P) : path

/** What no path may have: the word for it, the detail, and whether a path has it. */
const pathFaults: ReadonlyArray<
  readonly [reason: string, detail: string, has: (path: string) => boolean]
> = [
  [
    "characters",
    "without control characters and lone surrogates",
    (path) => !path.isWellFormed() || hasControlCharacter(path)
  ],
  ["backslash", "with / and not \\ between its segments", (path) => path.includes("\\")],
  [
    "scheme",
    "without a colon after the letters at its start, as in C: or https:",
    (path) => /^[A-Za-z][A-Za-z0-9+.-]*:/.test(path)
  ],
  ["escape", "without the escapes %2e, %2f, %5c and %00", (path) => hiddenSeparator.test(path)],
  ["segment", "without empty, . or .. segments", (path) => uncleanSegment.test(path)]
]

/** The fault of a path as it was sent, untrimmed. */
const pathFault = (value: string) => {
  const path = relativePath(value.trim())
  return pathFaults.find(([, , has]) => has(path))
}

/**
 * A clean relative path, 1 to 1,024 characters. Codes: `blank`, `max_length`,
 * `invalid_document_path`.
 */
export const DocumentPath = trimmed(
  nonBlank(maxLength).check(
    fieldCheck<string>((value) => pathFault(value) === undefined, {
      code: "invalid_document_path",
      detail: (value) =>
        `Must be a path relative to the supplier's root, ${pathFault(value)?.[1]}.`,
      parameters: (value) => {
        const [reason] = pathFault(value) ?? []
        return reason === undefined ? {} : { reason }
      }
    })
  )
).pipe(Schema.brand("DocumentPath"))
export type DocumentPath = typeof DocumentPath.Type

/** The file must exist in the store, unless the supplier's document check is off. */
export const documentExists =
  <Field extends string>(field: Field): Rule<{ readonly [Key in Field]?: DocumentPath }> =>
  (value, { missingDocuments }, report) => {
    const path = value[field]
    if (path !== undefined && missingDocuments.has(relativePath(path))) {
      report("path_does_not_exist_in_file_store", "There is no file at this path.", field)
    }
  }

/** The maximum number of different documents in a request. */
export const mostDocuments = 1_000

/** Reported at the list with the first document over the limit. */
export const documentsAreFew: Rule<{
  readonly notes?: ReadonlyArray<{
    readonly document_paths?: ReadonlyArray<{ readonly document_path: DocumentPath }>
  }>
  readonly statements?: ReadonlyArray<{ readonly statement_path?: DocumentPath }>
}> = (body, _facts, report) => {
  const paths = new Set<DocumentPath>()
  const count = (path: DocumentPath | undefined, ...list: ReadonlyArray<string | number>): void => {
    if (path === undefined || paths.size > mostDocuments) return
    paths.add(relativePath(path))
    if (paths.size > mostDocuments) {
      const detail = `A request names at most ${mostDocuments} documents.`
      report("max_length", { detail, parameters: { limit: mostDocuments } }, ...list)
    }
  }
  // One of the lists may be invalid; the other one still counts.
  eachValid(["notes", "statements"] as const, (list) => {
    if (list === "statements") {
      eachValid(body.statements ?? [], ({ statement_path }) => count(statement_path, list))
    } else {
      eachValid(body.notes ?? [], ({ document_paths = [] }, index) =>
        eachValid(document_paths, ({ document_path }) =>
          count(document_path, list, index, "document_paths")
        )
      )
    }
  })
}

/**
 * Makes the search for the documents that a body names with valid paths, each once and without a
 * leading slash. It stops at the first document over the limit.
 */
export const documentsIn = (tree: SchemaTree) => {
  const pathsIn = leavesOf(tree, DocumentPath)
  return function* (body: unknown): Steps<ReadonlySet<DocumentPath>> {
    const paths = new Set<DocumentPath>()
    for (const path of pathsIn(body)) {
      if (path === undefined) yield
      else paths.add(relativePath(path))
      if (paths.size > mostDocuments) break
    }
    return paths
  }
}
