/**
 * Checks that documents exist, in a folder or in a bucket of object storage. A found document is
 * cached for a minute; a missing one is looked up again.
 */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { HeadObjectCommand, NotFound, S3Client } from "@aws-sdk/client-s3"
import { type FieldError, Refusal } from "./Refusal.ts"
import type { Note } from "./Requests.ts"

export type Documents = (key: string) => Promise<boolean>

/** Where documents are: a folder, or the bucket of a server. */
export type Store =
  | { readonly folder: string }
  | { readonly bucket: string; readonly endpoint: string; readonly region: string }

const inFolder = (folder: string) => async (key: string) => {
  try {
    return (await stat(join(folder, key))).isFile()
  } catch {
    return false
  }
}

const inBucket = (bucket: string, client: S3Client) => async (key: string) => {
  try {
    await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }))
    return true
  } catch (cause) {
    if (cause instanceof NotFound) return false
    throw new Refusal(503, "service_unavailable")
  }
}

const rememberedMillis = 60_000
const capacity = 100_000

export const makeDocuments = (store: Store) => {
  const client =
    "bucket" in store ? new S3Client({ ...store, forcePathStyle: true, maxAttempts: 3 }) : null
  const find =
    "bucket" in store ? inBucket(store.bucket, client as S3Client) : inFolder(store.folder)
  const seen = new Map<string, number>()
  const documents: Documents = async (key) => {
    const until = seen.get(key)
    if (until !== undefined && until > Date.now()) return true
    const isThere = !key.split("/").includes("..") && (await find(key))
    if (seen.size >= capacity) seen.clear()
    if (isThere) seen.set(key, Date.now() + rememberedMillis)
    return isThere
  }
  return { documents, close: () => client?.destroy() }
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
