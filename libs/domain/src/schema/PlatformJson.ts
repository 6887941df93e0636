/**
 * Parses short, sound JSON by the platform's parser, which is faster than ours. A survey of the
 * text tells whether the two could differ: whether a number needs its own spelling, a key may be
 * repeated, or something is too deep or too long. The platform may take a key with an escape for
 * another one (https://github.com/nodejs/node/issues/63785), so such a text is not for it.
 */

/** How much of a document is read; see `parsing`. */
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

/** The index of the quote that ends a string, or behind the text; negative if it has an escape. */
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
  // An exponent is left to the other parser.
  return end - start > exactDigits || (at | 0x20) === 0x65 ? -1 : end
}

/** The members of all objects of the text; -1 if it is not for the platform's parser. */
const membersIn = (text: string, { depth, elements }: JsonBounds): number => {
  let [members, commas, open] = [0, 0, 0]
  let index = 0
  /** Of the last string, which before a colon is a key. */
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
  // No list and no object has more elements than there are commas, and one.
  return commas < elements ? members : -1
}

/** The members of all objects of the value, of which a key that the text repeats is one. */
const membersOf = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 0
  let members = 0
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) members += membersOf(value[index])
  } else for (const key in value) members += 1 + membersOf(value[key as never])
  return members
}

/** Undefined for every text that the other parser has to judge. */
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
