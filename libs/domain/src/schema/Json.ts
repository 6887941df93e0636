/**
 * Parses JSON as the contract defines it. Repeated keys and deep nesting are rejected. A number
 * that a double cannot hold keeps its spelling, so that it is validated, stored and returned as
 * sent. The platform's parser supports none of that, and some large bodies block it for seconds. So
 * it only parses short text for which both parsers agree.
 * Source: docs/contract/http.md#json
 */
import { Data, Result } from "effect"
import { finish, type Steps } from "../support/Steps.ts"
import { exactDigits, type JsonBounds, parsedByPlatform } from "./PlatformJson.ts"
import { isRawNumber, rawNumber } from "./RawNumber.ts"

/** The body is not valid JSON by the contract. `detail` states the position. */
export class NotJson extends Data.TaggedError("NotJson")<{ readonly detail: string }> {
  readonly code = "parse_error"
}

/** The outermost object of a body is depth 1. */
export const nestingDepth = 32

/**
 * The maximum number of list elements, and of members of a free object. Anything inside a longer
 * one is not validated.
 */
export const listElements = 10_000

const boundsOfRequests: JsonBounds = { depth: nestingDepth, elements: listElements }

/** A path from the root of a body: field names and list indexes. */
export type Path = ReadonlyArray<string | number>

/** Whether a parsed value is an object: not a list, and not a number with its own spelling. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value)

export const isListWithinLimit = (value: unknown): value is ReadonlyArray<unknown> =>
  Array.isArray(value) && value.length <= listElements

/** Well within the range of a double. */
const largestExponent = 250
const longestExact = 250

/** The digits without trailing zeros. A regular expression would take quadratic time. */
export const withoutTrailingZeros = (digits: string): string => {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === 0x30) end--
  return digits.slice(0, end)
}

/** Whether a double holds the number exactly as spelled. */
const isExact = (source: string): boolean => {
  if (source.length > longestExact) return false
  const [coefficient = "", exponent] = source.toLowerCase().split("e")
  if (exponent !== undefined && Math.abs(Number(exponent)) > largestExponent) return false
  const digits = withoutTrailingZeros(coefficient.replace(/[-.]/g, "").replace(/^0+/, ""))
  return digits.length <= exactDigits
}

const code = (character: string): number => character.charCodeAt(0)

const quote = code('"')
const backslash = code("\\")
const comma = code(",")
const colon = code(":")
const minus = code("-")
const openBrace = code("{")
const closeBrace = code("}")
const openBracket = code("[")
const closeBracket = code("]")
const space = code(" ")

const isBlank = (at: number): boolean =>
  at <= space && (at === space || at === 0x0a || at === 0x0d || at === 0x09)

/** The end of the characters before `stop` that need no unescaping. */
const endOfPlain = (text: string, start: number, stop: number): number => {
  const last = Math.min(stop, text.length)
  for (let index = start; index < last; index++) {
    const at = text.charCodeAt(index)
    if (at === quote || at === backslash || at < space) return index
  }
  return Math.max(start, last)
}

const isDigit = (at: number): boolean => at >= 0x30 && at <= 0x39

const words: ReadonlyMap<number, readonly [word: string, value: boolean | null]> = new Map([
  [code("t"), ["true", true]],
  [code("f"), ["false", false]],
  [code("n"), ["null", null]]
])

/** A list or an object whose end has not been reached. */
interface Container {
  readonly within: Container | null
  /** Null for an object. */
  readonly list: Array<unknown> | null
  readonly object: Record<string, unknown>
  /** The key of the current member. */
  key: string
  members: number
}

const noObject = {}

const listIn = (within: Container | null): Container => ({
  within,
  list: [],
  object: noObject,
  key: "",
  members: 0
})

const objectIn = (within: Container | null): Container => ({
  within,
  list: null,
  object: {},
  key: "",
  members: 0
})

const closed = ({ list, object }: Container): unknown =>
  // A list that grew has spare capacity.
  list === null ? object : list.slice()

/** Keeps one element over the limit, so that a longer list is recognised. */
const keep = (container: Container, value: unknown, elements: number): void => {
  const { list, object } = container
  if (list !== null) {
    if (list.length <= elements) list.push(value)
  } else if (container.members++ <= elements) {
    const { key } = container
    if (key === "__proto__") {
      const descriptor = { value, enumerable: true, configurable: true, writable: true }
      Object.defineProperty(object, key, descriptor)
    } else object[key] = value
  }
}

/** A string that is too long for one step, with the part that was read. */
interface LongString {
  readonly pieces: ReadonlyArray<string>
  /** The start of the next piece. */
  readonly index: number
}

/** About how many characters of a string are read in one step. */
const pieceLength = 64 * 1024

/** The maximum length of an escape. */
const longestEscape = 6

/** The token that may come next. */
type Expected =
  | "value"
  | "element or end"
  | "key"
  | "key or end"
  | "colon"
  | "comma or end"
  | "end of text"

class Parser {
  readonly #text: string
  readonly #bounds: JsonBounds
  #index = 0
  #depth = 0
  #container: Container | null = null
  #long: LongString | null = null
  #expected: Expected = "value"
  /** The whole document, once `advance` has answered true. */
  document: unknown = undefined

  constructor(text: string, bounds: JsonBounds) {
    this.#text = text
    this.#bounds = bounds
  }

  /** Reads about this many characters, and returns whether that was all. @throws NotJson */
  advance(characters: number): boolean {
    const pause = this.#index + characters
    while (this.#index < pause) {
      const next = this.#skipBlanks(pause)
      if (isBlank(next)) return false
      if (this.#expected === "end of text") {
        if (this.#index < this.#text.length) this.#fail()
        return true
      }
      if (!this.#read(next)) return false
    }
    return false
  }

  /** Reads the value that begins with `next`. Returns false for a piece of a long string. */
  #read(next: number): boolean {
    switch (this.#expected) {
      case "colon":
        if (next !== colon) this.#fail()
        this.#index++
        this.#expected = "value"
        return true
      case "comma or end":
        this.#readCommaOrEnd(next)
        return true
      case "key or end":
      case "key":
        if (next === closeBrace && this.#expected === "key or end") {
          this.#close()
          return true
        }
        return this.#readKey(next)
      default:
        return this.#readValue(next)
    }
  }

  #fail(index = this.#index): never {
    throw new NotJson({ detail: `Not a JSON document, at position ${index}.` })
  }

  /** Returns the next character, which is whitespace if there is more of it at `pause`. */
  #skipBlanks(pause: number): number {
    const text = this.#text
    let next = text.charCodeAt(this.#index)
    while (isBlank(next) && this.#index < pause) next = text.charCodeAt(++this.#index)
    return next
  }

  #open(bracket: number): void {
    const { depth } = this.#bounds
    if (this.#depth === depth) {
      throw new NotJson({ detail: `Nested deeper than ${depth} levels.` })
    }
    this.#depth++
    this.#index++
    const isObject = bracket === openBrace
    this.#container = isObject ? objectIn(this.#container) : listIn(this.#container)
    this.#expected = isObject ? "key or end" : "element or end"
  }

  #close(): void {
    const container = this.#container as Container
    this.#depth--
    this.#index++
    this.#container = container.within
    this.#put(closed(container))
  }

  #readKey(next: number): boolean {
    if (next !== quote) this.#fail()
    const key = this.#readString()
    if (key === undefined) return false
    const container = this.#container as Container
    // Most keys are new, and an inherited property is not an own one.
    if (container.object[key] !== undefined && Object.hasOwn(container.object, key)) {
      throw new NotJson({ detail: `The key ${JSON.stringify(key.slice(0, 64))} is repeated.` })
    }
    container.key = key
    this.#expected = "colon"
    return true
  }

  #readValue(next: number): boolean {
    if (next === quote) {
      const text = this.#readString()
      if (text === undefined) return false
      this.#put(text)
    } else if (next === minus || isDigit(next)) this.#put(this.#readNumber(next))
    else if (next === openBrace || next === openBracket) this.#open(next)
    else if (next === closeBracket && this.#expected === "element or end") this.#close()
    else this.#put(this.#readWord(next))
    return true
  }

  #readWord(next: number): boolean | null {
    const [word, value] = words.get(next) ?? this.#fail()
    if (!this.#text.startsWith(word, this.#index)) this.#fail()
    this.#index += word.length
    return value
  }

  #readCommaOrEnd(next: number): void {
    const isObject = (this.#container as Container).list === null
    if (next === comma) {
      this.#index++
      this.#expected = isObject ? "key" : "value"
    } else if (next === (isObject ? closeBrace : closeBracket)) this.#close()
    else this.#fail()
  }

  #put(value: unknown): void {
    if (this.#container === null) {
      this.document = value
      this.#expected = "end of text"
    } else {
      keep(this.#container, value, this.#bounds.elements)
      this.#expected = "comma or end"
    }
  }

  /** Undefined if the string is long; it is then read in pieces. */
  #readString(): string | undefined {
    const text = this.#text
    const { index, pieces } = this.#long ?? { index: this.#index + 1, pieces: [] }
    const stop = index + pieceLength
    let escape = -longestEscape
    let end = endOfPlain(text, index, stop)
    while (end < stop && text.charCodeAt(end) === backslash) {
      escape = end
      end = endOfPlain(text, end + 2, stop)
    }
    const isWhole = text.charCodeAt(end) === quote
    if (!isWhole && (end < stop || end >= text.length)) this.#fail(end)
    const cut = isWhole || end - escape >= longestEscape ? end : escape
    const piece = escape < 0 ? text.slice(index, cut) : this.#unescaped(index, cut)
    this.#long = isWhole ? null : { index: cut, pieces: [...pieces, piece] }
    if (!isWhole) return undefined
    this.#index = end + 1
    return pieces.length === 0 ? piece : pieces.join("") + piece
  }

  #unescaped(start: number, end: number): string {
    try {
      return String(JSON.parse(`"${this.#text.slice(start, end)}"`))
    } catch {
      return this.#fail()
    }
  }

  #readNumber(first: number): unknown {
    const text = this.#text
    const start = this.#index
    let next = first === minus ? text.charCodeAt(++this.#index) : first
    if (next === 0x30) next = text.charCodeAt(++this.#index)
    else next = this.#skipDigits()
    if (next === 0x2e) {
      this.#index++
      next = this.#skipDigits()
    }
    const hasExponent = next === 0x65 || next === 0x45
    if (hasExponent) {
      next = text.charCodeAt(++this.#index)
      if (next === minus || next === 0x2b) this.#index++
      this.#skipDigits()
    }
    const source = text.slice(start, this.#index)
    const isShort = source.length <= exactDigits && !hasExponent
    return isShort || isExact(source) ? Number(source) : rawNumber(source)
  }

  /** Skips at least one digit, and returns the next character. */
  #skipDigits(): number {
    const text = this.#text
    let next = text.charCodeAt(this.#index)
    if (!isDigit(next)) this.#fail()
    while (isDigit(next)) next = text.charCodeAt(++this.#index)
    return next
  }
}

/** Characters between two pauses. */
const stepsPerYield = 4_096

/**
 * Parses a JSON document in steps. Fails with `parse_error` for malformed text, a byte-order mark,
 * a repeated key, or a nesting deeper than the bounds. A list or an object that is longer than they
 * allow is cut after the first element over the limit; every validator rejects it. The bounds are
 * those of a request unless given.
 */
export function* parseInSteps(
  text: string,
  bounds: JsonBounds = boundsOfRequests
): Steps<Result.Result<unknown, NotJson>> {
  const parsed = parsedByPlatform(text, bounds)
  if (parsed !== undefined) return Result.succeed(parsed)
  const parser = new Parser(text, bounds)
  try {
    while (!parser.advance(stepsPerYield)) yield
    return Result.succeed(parser.document)
  } catch (error) {
    if (error instanceof NotJson) return Result.fail(error)
    throw error
  }
}

/** Parses one JSON document without a pause; see `parseInSteps`. */
export const parse = (text: string, bounds?: JsonBounds): Result.Result<unknown, NotJson> =>
  finish(parseInSteps(text, bounds))
