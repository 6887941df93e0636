/**
 * How a command answers: a sentence or a table for people, JSON with `--json` for machines, and
 * nothing else on stdout.
 */
import { Console, Context, Effect, type Schema } from "effect"
import { Flag, GlobalFlag } from "effect/cli"

/** Given anywhere on the line, it makes every command print one JSON document. */
export const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Print JSON; lists are arrays")
  )
})

const print = Effect.fnUntraced(function* (json: Schema.Json, text: string) {
  const forMachines = yield* Json
  yield* Console.log(forMachines ? JSON.stringify(json, null, 2) : text)
})

/** The mode of the API key with which a command asks; null for a command without one. */
export const KeyMode = Context.Reference<"live" | "test" | null>("@data-import/terminal/KeyMode", {
  defaultValue: () => null
})

/** The text whose first line says whether the API key is live or a test key. */
const withMode = (text: string) =>
  Effect.map(KeyMode, (mode) => (mode === null ? text : text.replace(/(?=\n|$)/, ` [${mode}]`)))

/** Answers a command. For people the first line says the mode of its API key. */
export const say = Effect.fnUntraced(function* (json: Schema.Json, text: string) {
  yield* print(json, yield* withMode(text))
})

/** Says on stderr what follows, with the mode of the API key, where stdout has data only. */
export const announce = (text: string) => Effect.flatMap(withMode(text), Console.error)

const cellLength = 80

/** Text without control characters, so that it cannot move the cursor. */
export const printable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")

/** One line of text without control characters, for a cell of a table. */
export const plain = (value: Schema.Json | undefined): string | boolean | null => {
  if (value === null || value === undefined || typeof value === "boolean") return value ?? null
  const text = typeof value === "object" ? JSON.stringify(value) : String(value)
  const points = Array.from(printable(text))
  const cut = points.length > cellLength ? [...points.slice(0, cellLength - 1), "…"] : points
  return cut.join("")
}

/** A count for people. Numbers that are input for commands, like positions, have no commas. */
export const inEnglish = (number: number): string => Math.round(number).toLocaleString("en-US")

/** What a table shows a line of, by the names of its members. */
export type Entry = { readonly [member: string]: Schema.Json }

/** A line each below the names of the members. */
export const table = (members: ReadonlyArray<string>, entries: ReadonlyArray<Entry>): string => {
  const columns = members.map((member) => {
    const cells = [member, ...entries.map((entry) => cell(entry[member]))]
    const width = Math.max(...cells.map(({ length }) => length))
    return cells.map((text) => text.padEnd(width))
  })
  const line = (index: number) =>
    columns
      .map((column) => column[index])
      .join("  ")
      .trimEnd()
  return [members, ...entries].map((_, index) => line(index)).join("\n")
}

/** A member on a line of its own. */
export const line = (name: string, value: Schema.Json | undefined): string =>
  `${name.replaceAll("_", " ")}: ${cell(plain(value))}`

/** Answers a command that lists something. */
export const list = (members: ReadonlyArray<string>, entries: ReadonlyArray<Entry>) =>
  print(entries, table(members, entries))

const cell = (value: Schema.Json | undefined): string => {
  if (value === null || value === undefined) return "-"
  if (Array.isArray(value)) return value.map(cell).join(",")
  if (typeof value === "boolean") return value ? "on" : "off"
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}
