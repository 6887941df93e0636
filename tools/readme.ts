/**
 * Writes what README.md repeats from elsewhere, each between two markers: the table of codes from
 * the registry, and the figures that were measured from `tools/bench/results`. With `--check` it
 * only compares. What is kept by hand is out of date after the next change.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { statusOf } from "@data-import/api/Problem"
import { registry } from "@data-import/domain/codes/Code"
import type { CodeEntry } from "@data-import/domain/codes/CodeEntry"

const readme = new URL("../README.md", import.meta.url)
const results = "tools/bench/results"

const statuses: Readonly<Record<string, number>> = statusOf

const cell = (text: string) => text.replaceAll("|", "\\|")

/** Where a code stands: as the code of an answer with this status, in its `errors`, or in both. */
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

/** The figures of one kind, a level deeper, with the charts found from here. */
const figures = (name: string) => () =>
  readFileSync(new URL(`../${results}/${name}.md`, import.meta.url), "utf8")
    .replaceAll(/^(#+) /gm, "##$1 ")
    .replaceAll(/\]\((\w+\.svg)\)/g, `](${results}/$1)`)
    .trim()

const parts: Readonly<Record<string, () => string>> = {
  codes,
  speed: figures("speed"),
  growth: figures("growth"),
  memory: figures("memory")
}

const written = readFileSync(readme, "utf8")
let wanted = written

for (const [name, make] of Object.entries(parts)) {
  const begin = `<!-- ${name}: begin (npm run readme) -->`
  const end = `<!-- ${name}: end -->`
  const [before, rest] = wanted.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) {
    console.error(`README.md needs the lines ${begin} and ${end}`)
    process.exit(1)
  }
  wanted = `${before}${begin}\n\n${make()}\n\n${end}${after}`
}

if (!process.argv.includes("--check")) {
  writeFileSync(readme, wanted)
} else if (written !== wanted) {
  console.error("README.md is not what the code and the figures say: run `npm run readme`.")
  process.exit(1)
}
