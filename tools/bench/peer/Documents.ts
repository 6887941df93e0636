/**
 * Checks that documents exist in a folder. A found document is cached for a minute; a missing one
 * is looked up again.
 */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import type { FieldError } from "./Refusal.ts"
import type { Note } from "./Requests.ts"

export type Documents = (key: string) => Promise<boolean>

const isFile = async (file: string): Promise<boolean> => {
  try {
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

const rememberedMillis = 60_000
const capacity = 100_000

export const makeDocuments = (folder: string): Documents => {
  const seen = new Map<string, number>()
  return async (key) => {
    const until = seen.get(key)
    if (until !== undefined && until > Date.now()) return true
    const isThere = !key.split("/").includes("..") && (await isFile(join(folder, key)))
    if (seen.size >= capacity) seen.clear()
    if (isThere) seen.set(key, Date.now() + rememberedMillis)
    return isThere
  }
}

interface Naming {
  readonly notes?: ReadonlyArray<Note> | undefined
  readonly statements?: ReadonlyArray<{ readonly statement_path?: string }> | undefined
}

const named = ({ notes = [], statements = [] }: Naming) => {
  const found: Array<{ readonly path: string; readonly attr: string }> = []
  for (const [index, { document_paths = [] }] of notes.entries()) {
    for (const [place, { document_path }] of document_paths.entries()) {
      const attr = `notes.${index}.document_paths.${place}.document_path`
      found.push({ path: document_path, attr })
    }
  }
  for (const [index, { statement_path }] of statements.entries()) {
    if (statement_path === undefined) continue
    found.push({ path: statement_path, attr: `statements.${index}.statement_path` })
  }
  return found
}

const code = "path_does_not_exist_in_file_store"

/** An error for each named document that does not exist. */
export const missing = async (
  documents: Documents,
  supplier: { readonly document_check: boolean; readonly document_root: string } | null,
  naming: Naming
): Promise<ReadonlyArray<FieldError>> => {
  if (supplier?.document_check !== true) return []
  const places = named(naming)
  const keyOf = (path: string) => `${supplier.document_root}/${path.replace(/^\//, "")}`
  const there = await Promise.all(places.map(({ path }) => documents(keyOf(path))))
  return places.flatMap(({ attr }, index) =>
    there[index] === true ? [] : [{ detail: "There is no such document.", code, attr }]
  )
}
