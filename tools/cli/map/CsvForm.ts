/** Finds out how a CSV file is written: its encoding, and the character between its cells. */
import { RowReader } from "../book/CsvRows.ts"
import { markedEncoding } from "../book/TextFile.ts"

const encodings = ["utf-8", "windows-1252", "utf-16le"] as const
type Encoding = (typeof encodings)[number]

export interface CsvForm {
  readonly encoding: Encoding
  readonly delimiter: string
}

/** A header is shorter. */
const headBytes = 64 * 1024

const delimiters = [";", ",", "\t", "|"]

/** How many cells the first row has with this delimiter, or with the one that a line `sep=` names. */
const widthOf = (head: string, delimiter: string) => {
  const reader = new RowReader(delimiter)
  const [header] = [...reader.feed(head), ...reader.end()]
  return { delimiter: reader.delimiter, cells: header?.cells?.length ?? 0 }
}

const delimiterOf = (head: string): string =>
  delimiters
    .map((delimiter) => widthOf(head, delimiter))
    .reduce((best, other) => (other.cells > best.cells ? other : best)).delimiter

/** Latin text in UTF-16 has a zero in every other byte. */
const isWide = (head: Uint8Array): boolean => head.includes(0)

/** Whether all bytes are UTF-8, whatever their parts are. */
class Utf8Check {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true })
  isUtf8 = true

  add(bytes: Uint8Array | null): void {
    if (!this.isUtf8) return
    try {
      this.#decoder.decode(bytes ?? new Uint8Array(), { stream: bytes !== null })
    } catch {
      this.isUtf8 = false
    }
  }
}

/** Reads the file to its end: one byte there may tell the encoding. Null if the file is empty. */
export const csvFormOf = async (bytes: AsyncIterable<Uint8Array>): Promise<CsvForm | null> => {
  const check = new Utf8Check()
  let head: Uint8Array | null = null
  for await (const part of bytes) {
    head ??= part.slice(0, headBytes)
    check.add(part)
  }
  check.add(null)
  if (head === null) return null
  const marked = encodings.find((encoding) => encoding === markedEncoding(head))
  const unmarked = isWide(head) ? "utf-16le" : check.isUtf8 ? "utf-8" : "windows-1252"
  const encoding = marked ?? unmarked
  return { encoding, delimiter: delimiterOf(new TextDecoder(encoding).decode(head)) }
}
