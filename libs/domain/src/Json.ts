/**
 * JSON text as the contract takes it, and nothing lost on the way: a repeated key or too deep a
 * nesting is refused, and a number that a double cannot hold keeps its own spelling (as the
 * platform's raw JSON), so that it is judged, stored and answered as it was sent.
 */
import { Data, Result } from "effect"

/** The body is not JSON as the contract takes it. `detail` says where. */
export class NotJson extends Data.TaggedError("NotJson")<{ readonly detail: string }> {
  readonly code = "parse_error"
}

/** The outermost object of a body is depth 1. */
export const nestingDepth = 32

/**
 * A number in its own spelling, made by `JSON.rawJSON` and written as it is by `JSON.stringify`.
 */
export interface RawNumber {
  readonly rawJSON: string
}

interface PlatformJson {
  readonly rawJSON: (text: string) => RawNumber
  readonly isRawJSON: (value: unknown) => value is RawNumber
  readonly parse: (
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown
  ) => unknown
}

const platform = JSON as unknown as PlatformJson

/** Whether a parsed value is a number whose spelling was kept. */
export const isRawNumber = (value: unknown): value is RawNumber => platform.isRawJSON(value)

/** Every double keeps this many significant decimal digits. */
const exactDigits = 15

const Quote = 0x22
const Backslash = 0x5c

const isNumberStart = (code: number): boolean => code === 0x2d || (code >= 0x30 && code <= 0x39)

const isNumberPart = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  code === 0x2e ||
  code === 0x2b ||
  code === 0x2d ||
  code === 0x65 ||
  code === 0x45

/**
 * The digits without the zeros at their end. (A regular expression takes the square of their
 * number.)
 */
export const withoutTrailingZeros = (digits: string): string => {
  let end = digits.length
  while (end > 0 && digits[end - 1] === "0") end--
  return digits.slice(0, end)
}

/** Whether a double holds the number as spelled, so that nothing is lost by parsing it. */
const isExact = (source: string): boolean => {
  const [coefficient = "", exponent] = source.toLowerCase().split("e")
  if (exponent !== undefined && Math.abs(Number(exponent)) > 250) return false
  const digits = withoutTrailingZeros(coefficient.replace(/[-.]/g, "").replace(/^0+/, ""))
  return digits.length <= exactDigits && coefficient.length < 250
}

const endOfString = (text: string, start: number): number => {
  let index = start + 1
  while (index < text.length) {
    const code = text.charCodeAt(index)
    if (code === Quote) return index
    index += code === Backslash ? 2 : 1
  }
  return text.length
}

const unescaped = (text: string, start: number, end: number): string => {
  const key = text.slice(start + 1, end)
  if (!key.includes("\\")) return key
  try {
    return String(JSON.parse(text.slice(start, end + 1)))
  } catch {
    // A malformed escape is no key at all: the parser that follows refuses the whole text.
    return key
  }
}

interface Survey {
  readonly refusal: string | null
  readonly exact: boolean
}

/**
 * One pass over the text, for what a parser does not tell. Malformed text is left to the parser.
 */
const survey = (text: string): Survey => {
  const open: Array<Set<string> | null> = []
  let expectsKey = false
  let exact = true
  let index = 0
  while (index < text.length) {
    const code = text.charCodeAt(index)
    if (code === Quote) {
      const end = endOfString(text, index)
      const keys = open[open.length - 1]
      if (expectsKey && keys) {
        const key = unescaped(text, index, end)
        if (keys.has(key))
          return { refusal: `The key ${JSON.stringify(key.slice(0, 64))} is repeated.`, exact }
        keys.add(key)
        expectsKey = false
      }
      index = end + 1
    } else if (code === 0x7b || code === 0x5b) {
      if (open.length === nestingDepth) {
        return { refusal: `Nested deeper than ${nestingDepth} levels.`, exact }
      }
      open.push(code === 0x7b ? new Set() : null)
      expectsKey = code === 0x7b
      index++
    } else if (code === 0x7d || code === 0x5d) {
      open.pop()
      expectsKey = false
      index++
    } else if (code === 0x2c) {
      expectsKey = open[open.length - 1] !== null
      index++
    } else if (isNumberStart(code)) {
      const start = index
      while (index < text.length && isNumberPart(text.charCodeAt(index))) index++
      if (index - start > exactDigits || /[eE]/.test(text.slice(start, index))) {
        exact &&= isExact(text.slice(start, index))
      }
    } else {
      index++
    }
  }
  return { refusal: null, exact }
}

/**
 * Parses one JSON document. Fails with the code `parse_error` for malformed text, a byte-order
 * mark, a repeated key, or a nesting deeper than `nestingDepth`.
 */
export const parse = (text: string): Result.Result<unknown, NotJson> => {
  const { exact, refusal } = survey(text)
  if (refusal !== null) return Result.fail(new NotJson({ detail: refusal }))
  try {
    return Result.succeed(
      exact
        ? (JSON.parse(text) as unknown)
        : platform.parse(text, (_key, value, { source }) =>
            typeof value === "number" && source !== undefined && !isExact(source)
              ? platform.rawJSON(source)
              : value
          )
    )
  } catch (cause) {
    return Result.fail(new NotJson({ detail: positionOf(cause) }))
  }
}

/** The parser's message without the text it quotes, which may hold personal data. */
const positionOf = (cause: unknown): string => {
  const position =
    cause instanceof SyntaxError ? /position \d+/.exec(cause.message)?.[0] : undefined
  return position === undefined ? "Not a JSON document." : `Not a JSON document, at ${position}.`
}
