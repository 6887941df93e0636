/**
 * Writes the generated parts of documents, each between two markers: the table of codes from the
 * registry. With `--check` it writes nothing, and exits with 1 when a document is out of date.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { statusOf } from "@data-import/api/StatusOfCode"
import { registry } from "@data-import/domain/codes/Code"
import type { CodeEntry } from "@data-import/domain/codes/CodeEntry"

const statuses: Readonly<Record<string, number>> = statusOf

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")

const cell = (text: string) => text.replaceAll("|", "\\|")

/** Where a code occurs: as the code of an answer with this status, in its `errors`, or in both. */
const place = (code: string, { kind }: CodeEntry) =>
  [kind === "field" ? [] : [statuses[code]], kind === "request" ? [] : ["errors"]].flat().join(", ")

const row = ([code, entry]: [string, CodeEntry]) => {
  const cells = [`\`${code}\``, place(code, entry), entry.meaning, entry.example, entry.remedy]
  return `| ${cells.map(cell).join(" | ")} |`
}

const codes = () =>
  [
    "| code | where | meaning | example | remedy |",
    "|---|---|---|---|---|",
    ...Object.entries<CodeEntry>(registry).map(row)
  ].join("\n")

const documents: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  "docs/contract/codes.md": { codes }
}

const withPart = (path: string, text: string, name: string, part: string): string => {
  const begin = `<!-- ${name}: begin (npm run documents) -->`
  const end = `<!-- ${name}: end -->`
  const [before, rest] = text.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) {
    console.error(`${path} needs the lines ${begin} and ${end}`)
    process.exit(1)
  }
  return `${before}${begin}\n\n${part}\n\n${end}${after}`
}

for (const [path, parts] of Object.entries(documents)) {
  const written = read(path)
  const wanted = Object.entries(parts).reduce(
    (text, [name, make]) => withPart(path, text, name, make()),
    written
  )
  if (written === wanted) continue
  if (process.argv.includes("--check")) {
    console.error(`${path} is out of date: run \`npm run documents\`.`)
    process.exitCode = 1
  } else {
    writeFileSync(new URL(`../${path}`, import.meta.url), wanted)
  }
}
