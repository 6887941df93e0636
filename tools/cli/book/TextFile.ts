/** Text files that people edit, as programs of all platforms save them. */
import { readFileSync } from "node:fs"

/** The mark at the start of a file, by which spreadsheets recognise UTF-8. */
export const byteOrderMark = "\uFEFF"

/** The encoding that the mark at the start of a file states; null if there is none. */
export const markedEncoding = (bytes: Uint8Array): string | null => {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return "utf-16le"
  if (first === 0xfe && second === 0xff) return "utf-16be"
  return first === 0xef && second === 0xbb && third === 0xbf ? "utf-8" : null
}

/** The text of a file in UTF-8, without the mark that some editors write at its start. */
export const readText = (file: string): string => {
  const bytes = readFileSync(file)
  const marked = markedEncoding(bytes)
  if (marked !== null && marked !== "utf-8") {
    throw new Error(`it is written in ${marked}: save it as UTF-8`)
  }
  return new TextDecoder().decode(bytes)
}
