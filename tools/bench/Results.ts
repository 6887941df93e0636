/** Prints the results, and with `--write` writes them to files beside this one. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { join } from "node:path"
import { Console, DateTime, Effect } from "effect"

const folder = join(import.meta.dirname, "results")

export interface Section {
  readonly title: string
  readonly text: string
}

/** The command that started this process, without `--write`. */
const commandOf = (script: string): string => {
  const options = process.argv.slice(2).filter((option) => option !== "--write")
  return [`npm run ${script}`, ...(options.length > 0 ? ["--", ...options] : [])].join(" ")
}

const autogroupFile = "/proc/sys/kernel/sched_autogroup_enabled"

/** Whether Linux shares processor time among sessions. Source: docs/operating.md. */
const autogroup = (): string => {
  const isOn = existsSync(autogroupFile) && readFileSync(autogroupFile, "utf8").trim() === "1"
  return `autogroup ${isOn ? "on" : "off"}`
}

/** Prints the results of an npm script. With `write`, also writes them as `<name>.md`. */
export const publish = Effect.fnUntraced(function* (
  name: string,
  script: string,
  title: string,
  sections: ReadonlyArray<Section>,
  write: boolean
) {
  const day = DateTime.formatIsoDate(yield* DateTime.now)
  const model = cpus()[0]?.model ?? "unknown"
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const here = `${cpus().length} cores (${model}), ${memory}, Node ${process.version}, ${autogroup()}`
  const measured = `Measured on ${day} by \`${commandOf(script)}\`, on ${here}.`
  const parts = sections.map((section) => `## ${section.title}\n\n${section.text}\n`)
  const text = [`# ${title}\n`, `${measured}\n`, ...parts].join("\n")
  yield* Console.log(`\n${text}`)
  if (!write) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.md`), text)
  yield* Console.log(`Written to ${folder}`)
})
