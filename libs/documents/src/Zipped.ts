/** Compresses stored texts, so that the hashes of a million entries take 35 MB. */
import { createGzip, gunzipSync } from "node:zlib"
import { Effect } from "effect"
import type { WriteText } from "@data-import/domain/audit/AuditHeadStore"

export const extension = ".ndjson.gz"

/** The compressed bytes of the text. Only the compressed form is held in memory. */
export const zip = <E>(text: WriteText<E>): Effect.Effect<Uint8Array, E> =>
  Effect.gen(function* () {
    const gzip = createGzip()
    const chunks: Array<Buffer> = []
    gzip.on("data", (chunk: Buffer) => chunks.push(chunk))
    yield* text((piece) => void gzip.write(piece))
    yield* Effect.promise(
      () =>
        new Promise<void>((resolve, reject) => {
          gzip.once("error", reject).once("end", resolve).end()
        })
    )
    return Buffer.concat(chunks)
  })

/** The text of these bytes, which may also be uncompressed. */
export const unzip = (bytes: Uint8Array): string => {
  const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b
  return Buffer.from(isZipped ? gunzipSync(bytes) : bytes).toString("utf8")
}
