/**
 * The body of a request: strict UTF-8 and JSON, each key once, nested at most 32 deep. A number
 * that a double cannot hold keeps its spelling.
 */
import { isUtf8 } from "node:buffer"
import { Refusal } from "./Refusal.ts"

const nestingDepth = 32
const exactDigits = 15

const json = JSON as unknown as {
  readonly parse: (
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown
  ) => unknown
  readonly rawJSON: (text: string) => { readonly rawJSON: string }
  readonly isRawJSON: (value: unknown) => value is { readonly rawJSON: string }
}

export const isRawNumber = json.isRawJSON

const isExact = (source: string): boolean => {
  const [coefficient = "", exponent = "0"] = source.toLowerCase().split("e")
  const digits = coefficient.replace(/[-.]/g, "").replace(/^0+/, "")
  return digits.length <= exactDigits && Math.abs(Number(exponent)) <= 250
}

interface Survey {
  readonly members: number
  readonly depth: number
  /** Whether every number is short and without an exponent. */
  readonly plain: boolean
}

/** One pass over the text for what the parser does not tell. */
const survey = (text: string): Survey => {
  let members = 0
  let open = 0
  let depth = 0
  let plain = true
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) {
      for (index++; index < text.length && text.charCodeAt(index) !== 0x22; index++) {
        if (text.charCodeAt(index) === 0x5c) index++
      }
    } else if (code === 0x3a) {
      members++
    } else if (code === 0x7b || code === 0x5b) {
      depth = Math.max(depth, ++open)
    } else if (code === 0x7d || code === 0x5d) {
      open--
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const start = index
      while (/[-+.eE\d]/.test(text.charAt(index + 1))) index++
      plain &&= index - start < exactDigits && !/[eE]/.test(text.slice(start, index + 1))
    }
  }
  return { members, depth, plain }
}

const membersOf = (value: unknown): number => {
  if (typeof value !== "object" || value === null || isRawNumber(value)) return 0
  let members = 0
  if (Array.isArray(value)) {
    for (const element of value) members += membersOf(element)
  } else {
    for (const key in value) members += 1 + membersOf((value as Record<string, unknown>)[key])
  }
  return members
}

const parsed = (text: string, plain: boolean): unknown => {
  try {
    if (plain) return JSON.parse(text)
    return json.parse(text, (_key, value, { source }) =>
      typeof value === "number" && source !== undefined && !isExact(source)
        ? json.rawJSON(source)
        : value
    )
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new Refusal(400, "parse_error")
    throw cause
  }
}

/** A key that is repeated leaves fewer members than the text has colons. */
const parseText = (text: string): unknown => {
  const { depth, members, plain } = survey(text)
  if (depth > nestingDepth) throw new Refusal(400, "parse_error")
  const value = parsed(text, plain)
  if (membersOf(value) !== members) throw new Refusal(400, "parse_error")
  return value
}

export const parseBody = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) throw new Refusal(400, "parse_error")
  return parseText(bytes.toString("utf8"))
}
