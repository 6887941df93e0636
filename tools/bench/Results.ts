/** Where figures go: to the terminal, and with `--write` into files beside this one. */
import { mkdirSync, writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { join } from "node:path"
import { Console, Effect } from "effect"
import { machine } from "./Table.ts"

const folder = join(import.meta.dirname, "results")

export interface Section {
  readonly title: string
  readonly text: string
}

/** Charts by the name of their file. */
export type Charts = Readonly<Record<string, string>>

const document = (title: string, sections: ReadonlyArray<Section>, charts: Charts): string => {
  const here = machine(cpus().length, cpus()[0]?.model ?? "unknown", totalmem(), process.version)
  const parts = sections.map((section) => `## ${section.title}\n\n${section.text}\n`)
  const images = Object.keys(charts).map((file) => `![${file.replace(".svg", "")}](${file})\n`)
  return [`# ${title}\n`, `${here}\n`, ...parts, ...images].join("\n")
}

/** Prints the figures, and writes them as `<name>.md` with their charts where that is wanted. */
export const publish = Effect.fnUntraced(function* (
  name: string,
  title: string,
  sections: ReadonlyArray<Section>,
  charts: Charts,
  write: boolean
) {
  const text = document(title, sections, charts)
  yield* Console.log(`\n${text}`)
  if (!write) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.md`), text)
  for (const [file, svg] of Object.entries(charts)) writeFileSync(join(folder, file), svg)
  yield* Console.log(`Written to ${folder}`)
})
