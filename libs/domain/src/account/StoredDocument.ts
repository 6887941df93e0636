/** The documents that an account refers to, as the document store knows them. */

/** What the store gives of a file; `size` in bytes, `etag` and `checksum` where it gives them. */
export interface StoredDocument {
  readonly size: number
  readonly etag: string | null
  readonly checksum: string | null
}

/** The documents of a request that the store has, by path without a leading slash. */
export type FoundDocuments = ReadonlyMap<string, StoredDocument>
