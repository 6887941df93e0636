/** The documents that an account refers to, as the document store knows them. */

/**
 * What the store reports about a file. `size` is in bytes; not every store has `etag` and
 * `checksum`.
 */
export interface StoredDocument {
  readonly size: number
  readonly etag: string | null
  readonly checksum: string | null
}

/** The documents of a request that exist in the store, by path without a leading slash. */
export type FoundDocuments = ReadonlyMap<string, StoredDocument>
