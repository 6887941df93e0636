/**
 * Parses short JSON with the platform's parser, which is faster than ours. A scan of the text tells
 * whether the two could differ: whether a number needs its own spelling, a key may be repeated, or
 * something is too deep or too long. The platform may confuse a key that has an escape with another
 * one (https://github.com/nodejs/node/issues/63785), so it does not get such a text.
 */

/** How much of a document is read; see `parseInSteps`. */
export interface JsonBounds {
  readonly depth: number
  readonly elements: number
}

/** The platform's parser cannot pause, and a longer text would take it more than a millisecond. */
const shortText = 32 * 1024

/** Every double keeps this many significant decimal digits. */
export const exactDigits = 15

const quote = 0x22
const comma = 0x2c
const point = 0x2e
const zero = 0x30
const nine = 0x39
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** The index of the quote that ends a string, or beyond the text; negative if it has an escape. */
const endOfString = (text: string, start: number): number => {
  let index = start
  let sign = 1
  while (index < text.length) {
    const at = text.charCodeAt(index)
    if (at === quote) break
    if (at === backslash) sign = -1
    index += at === backslash ? 2 : 1
  }
  return sign * index
}

/** The index after the digits and points of a number; -1 if a double may not be exact. */
const endOfNumber = (text: string, start: number): number => {
  let end = start + 1
  let at = text.charCodeAt(end)
  while ((at >= zero && at <= nine) || at === point) at = text.charCodeAt(++end)
  // A number with an exponent is left to the other parser.
  return end - start > exactDigits || (at | 0x20) === 0x65 ? -1 : end
}

/** The number of members of all objects in the text; -1 if the platform must not parse it. */
const membersIn = (text: string, { depth, elements }: JsonBounds): number => {
  let [members, commas, open] = [0, 0, 0]
  let index = 0
  /** The end of the last string, which is a key if a colon follows. */
  let end = 0
  while (index < text.length) {
    const at = text.charCodeAt(index)
    if (at === quote) {
      end = endOfString(text, index + 1)
      index = Math.abs(end)
    } else if (at === colon) {
      if (end < 0) return -1
      members++
    } else if (at === comma) commas++
    else if (at === openBrace || at === openBracket) {
      if (++open > depth) return -1
    } else if (at === closeBrace || at === closeBracket) open--
    else if (at >= zero && at <= nine) {
      const behind = endOfNumber(text, index)
      if (behind < 0) return -1
      index = behind - 1
    }
    index++
  }
  // No list or object has more elements than the number of commas plus one.
  return commas < elements ? members : -1
}

/** The number of members of all objects in the value. A key that the text repeats counts once. */
const membersOf = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 0
  let members = 0
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) members += membersOf(value[index])
  } else for (const key in value) members += 1 + membersOf(value[key as never])
  return members
}

/** The parsed value; undefined if the other parser has to parse the text. */
export const parsedByPlatform = (text: string, bounds: JsonBounds): unknown => {
  const members = text.length > shortText ? -1 : membersIn(text, bounds)
  if (members < 0) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return membersOf(value) === members ? value : undefined
  } catch {
    return undefined
  }
}
