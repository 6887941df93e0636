/** Paths of fields in words, for people. */
import { wholePayload } from "../schema/Rules.ts"

const singular = (name: string): string => name.replace(/s$/, "")

/**
 * Such as `Ledger 1, transaction 3, amount`: elements are counted from 1. `*` stands for any
 * element.
 */
export const fieldInWords = (path: string): string => {
  if (path === wholePayload || path === "") return "The account as a whole"
  const words: Array<string> = []
  for (const segment of path.split(".")) {
    const last = words.at(-1)
    if (/^(?:\d+|\*)$/.test(segment) && last !== undefined) {
      const place = segment === "*" ? "" : ` ${Number(segment) + 1}`
      words[words.length - 1] = singular(last) + place
    } else words.push(segment.replaceAll("_", " "))
  }
  const text = words.join(", ")
  return text.charAt(0).toUpperCase() + text.slice(1)
}
