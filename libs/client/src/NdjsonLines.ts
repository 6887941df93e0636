/**
 * Cuts bytes into lines of text, whatever the pieces in which they arrive. A line may have any
 * length, and may be empty.
 */
import { Effect, Stream } from "effect"

const lineFeed = 0x0a

type Decoder = InstanceType<typeof TextDecoder>

/** Bytes after the last line end, until the next one arrives. */
interface Rest {
  readonly pieces: Array<Uint8Array>
}

const textOf = (decoder: Decoder, { pieces }: Rest, last: Uint8Array): string => {
  const text =
    pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode(last)
  pieces.length = 0
  return text
}

const cut = (decoder: Decoder, rest: Rest, bytes: Uint8Array): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let start = 0
  for (;;) {
    const end = bytes.indexOf(lineFeed, start)
    if (end < 0) break
    lines.push(textOf(decoder, rest, bytes.subarray(start, end)))
    start = end + 1
  }
  if (start < bytes.length) rest.pieces.push(bytes.subarray(start))
  return lines
}

export const linesOf = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<string, E> =>
  Stream.unwrap(
    Effect.sync(() => {
      const decoder = new TextDecoder()
      const rest: Rest = { pieces: [] }
      // If the text ends with a line end, there is no further line.
      const last = Stream.suspend(() =>
        Stream.fromIterable(
          rest.pieces.length === 0 ? [] : [textOf(decoder, rest, new Uint8Array())]
        )
      )
      return bytes.pipe(
        Stream.flatMap((piece) => Stream.fromIterable(cut(decoder, rest, piece))),
        Stream.concat(last)
      )
    })
  )
