/**
 * Reads a book: a file with one account on each line, or the standard input, plain or packed with
 * gzip.
 */
import { createReadStream, statSync } from "node:fs"
import { pipeline, Readable } from "node:stream"
import { createGunzip } from "node:zlib"
import { Effect } from "effect"
import { Refused } from "@data-import/terminal/Refused"
import { reasonOf } from "../Reason.ts"

export interface Book {
  /** As it was given; `-` is the standard input. */
  readonly name: string
  /** Null if it is not known before the end. */
  readonly size: number | null
  /** How many bytes were read so far, before decompression. */
  readonly read: () => number
  readonly bytes: AsyncIterable<Uint8Array>
}

const readAtOnce = 1024 * 1024

const gzipMagic = [0x1f, 0x8b] as const

/** Neither JSON nor text begins with these bytes. */
export const isGzip = (bytes: Uint8Array): boolean =>
  gzipMagic.every((byte, at) => bytes[at] === byte)

async function* after(first: Uint8Array, rest: AsyncIterator<Uint8Array>) {
  yield first
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}

/** Unpacks a gzip stream of one or several members. */
const gunzip = (packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> => {
  const unpacking = createGunzip({ chunkSize: 256 * 1024 })
  // The reader of `unpacking` gets the error.
  pipeline(Readable.from(packed, { objectMode: false }), unpacking, () => {})
  return unpacking
}

async function* unpacked(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = bytes[Symbol.asyncIterator]()
  const first = await source.next()
  if (first.done === true) return
  const whole = after(first.value, source)
  yield* isGzip(first.value) ? gunzip(whole) : whole
}

/** The sentence for an error of reading. */
export const cannotRead = (name: string, error: unknown): Refused =>
  new Refused({ why: `Cannot read ${name}: ${reasonOf(error)}.` })

/** Refuses what can be read only once, like a pipe. */
export const requirePlainFiles = (names: ReadonlyArray<string>): Effect.Effect<void, Refused> =>
  Effect.forEach(
    names,
    (name) =>
      Effect.try({
        try: () => name !== "-" && statSync(name).isFile(),
        catch: (error) => cannotRead(name, error)
      }).pipe(
        Effect.filterOrFail(
          (isPlain) => isPlain,
          () =>
            new Refused({
              why: `${name} is not a plain file, and is read more than once. Write it to a file first.`
            })
        )
      ),
    { discard: true }
  )

/** An export that broke off is not a book without accounts. */
export const emptyBook = (name: string): Refused =>
  new Refused({ why: `${name} is empty: it has no account.` })

/** A file that does not exist is refused at once; a read error fails `bytes` later. */
export const open = (name: string): Effect.Effect<Book, Refused> =>
  Effect.try({
    try: () => {
      const isFile = name !== "-"
      const stat = isFile ? statSync(name) : null
      if (stat?.isDirectory() === true) throw new Error("it is a folder")
      let read = 0
      const counted = async function* () {
        // Opened by the first read, so that a failure to open is always reported to a reader.
        const source: AsyncIterable<Buffer> = isFile
          ? createReadStream(name, { highWaterMark: readAtOnce })
          : process.stdin
        for await (const bytes of source) {
          read += bytes.length
          yield bytes
        }
      }
      return {
        name,
        size: stat?.isFile() === true ? stat.size : null,
        read: () => read,
        bytes: unpacked(counted())
      }
    },
    catch: (error) => cannotRead(name, error)
  })
