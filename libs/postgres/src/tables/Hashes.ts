/** SHA-256 hashes as bytes, and several of them in one column. */
import { hash } from "node:crypto"

const hashBytes = 32

export const digest = (bytes: Uint8Array): Uint8Array => hash("sha256", bytes, "buffer")

/** The hashes that a column has one after the other. */
export const hashesIn = (column: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from({ length: column.length / hashBytes }, (_, index) =>
    column.subarray(index * hashBytes, (index + 1) * hashBytes)
  )
