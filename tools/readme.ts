/**
 * Writes the table of codes in README.md from the registry, between two markers; with `--check` it
 * only compares. A table kept by hand would be out of date after the next rule.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { statusOf } from "@data-import/api/Problem"
import { registry } from "@data-import/domain/Code"
import type { CodeEntry } from "@data-import/domain/CodeEntry"

const file = new URL("../README.md", import.meta.url)
const begin = "<!-- codes: begin (npm run readme) -->"
const end = "<!-- codes: end -->"

const statuses: Readonly<Record<string, number>> = statusOf

const cell = (text: string) => text.replaceAll("|", "\\|")

/** Where a code stands: as the code of an answer with this status, in its `errors`, or in both. */
const place = (code: string, { kind }: CodeEntry) =>
  [kind === "field" ? [] : [statuses[code]], kind === "request" ? [] : ["errors"]].flat().join(", ")

const row = ([code, entry]: [string, CodeEntry]) => {
  const cells = [`\`${code}\``, place(code, entry), entry.meaning, entry.example, entry.remedy]
  return `| ${cells.map(cell).join(" | ")} |`
}

const table = [
  "| code | where | meaning | example | remedy |",
  "|---|---|---|---|---|",
  ...Object.entries<CodeEntry>(registry).map(row)
].join("\n")

const written = readFileSync(file, "utf8")
const [before, rest] = written.split(begin)
const after = rest?.split(end)[1]

if (before === undefined || after === undefined) {
  console.error(`README.md needs the lines ${begin} and ${end}`)
  process.exit(1)
}

const wanted = `${before}${begin}\n\n${table}\n\n${end}${after}`

if (!process.argv.includes("--check")) {
  writeFileSync(file, wanted)
} else if (written !== wanted) {
  console.error(
    "The table of codes in README.md is not that of the registry: run `npm run readme`."
  )
  process.exit(1)
}
