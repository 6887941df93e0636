/**
 * How the journey is printed: each request and its answer as indented JSON, with secrets shortened,
 * in colour on a terminal.
 */
import { Predicate } from "effect"

const width = 96

const escapes = {
  bold: "\x1b[1m",
  dim: "\x1b[2m",
  cyan: "\x1b[36m",
  green: "\x1b[32m",
  red: "\x1b[31m"
}
type Style = keyof typeof escapes

export type Paint = (style: Style, text: string) => string

/** Colour for a terminal that was not asked to do without (https://no-color.org). */
export const painter = (isTerminal: boolean, noColor: string | undefined): Paint =>
  isTerminal && !noColor ? (style, text) => `${escapes[style]}${text}\x1b[0m` : (_, text) => text

/** JSON that breaks lines only where a value does not fit on one. */
export const json = (value: unknown, indent = "  "): string => {
  const line = flat(value)
  if (line.length + indent.length <= width || !Predicate.isObjectKeyword(value)) return line
  const deeper = `${indent}  `
  const isList = Array.isArray(value)
  const members = isList
    ? value.map((element) => json(element, deeper))
    : Object.entries(value).map(([name, it]) => `${JSON.stringify(name)}: ${json(it, deeper)}`)
  const [open, close] = isList ? "[]" : "{}"
  return `${open}\n${members.map((member) => deeper + member).join(",\n")}\n${indent}${close}`
}

const flat = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(flat).join(", ")}]`
  if (!Predicate.isObject(value)) return JSON.stringify(value) ?? ""
  const members = Object.entries(value).map(([name, it]) => `${JSON.stringify(name)}: ${flat(it)}`)
  return members.length > 0 ? `{ ${members.join(", ")} }` : "{}"
}

/** API keys, refresh tokens and access tokens, shortened to a prefix. */
export const withoutSecrets = (text: string): string =>
  text.replace(/\b((?:sk_|rt_|eyJ)[\w-]{4})[\w.-]+/g, "$1…")

/** The text with indented lines. */
export const indented = (text: string): string => text.replace(/^(?=.)/gm, "  ")

/** A word of a command line. */
export const quoted = (word: string): string => (/^[\w./:-]+$/.test(word) ? word : `'${word}'`)

const longestList = 10

/** A long list as its first two elements and the number of the others. */
export const shortened = (value: unknown): unknown => {
  if (!Array.isArray(value) || value.length <= longestList) return value
  const elements: ReadonlyArray<unknown> = value
  return [...elements.slice(0, 2), `… ${elements.length - 2} more`]
}
