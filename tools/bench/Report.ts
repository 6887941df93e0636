/** What the benchmarks print: Markdown tables, and when, where and by which command they measured. */
import { existsSync, readFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { Console, DateTime, Effect, Predicate } from "effect"
import { Flag } from "effect/cli"

/** Columns after the first are aligned to the right. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): string => {
  const line = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
  const rule = head.map((_, column) => (column === 0 ? "---" : "---:"))
  return [line(head), line(rule), ...rows.map(line)].join("\n")
}

/** Three significant figures, with commas in thousands. */
export const short = (value: number): string => {
  if (value === 0) return "0"
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  const options = { maximumFractionDigits: digits, minimumFractionDigits: digits }
  return value.toLocaleString("en-GB", options)
}

export interface Section {
  readonly title: string
  readonly text: string
}

const autogroupFile = "/proc/sys/kernel/sched_autogroup_enabled"

/** Whether Linux shares processor time among sessions. Source: docs/operating.md. */
const autogroup = (): string => {
  const isOn = existsSync(autogroupFile) && readFileSync(autogroupFile, "utf8").trim() === "1"
  return `autogroup ${isOn ? "on" : "off"}`
}

/** Prints the results of an npm script. */
export const publish = Effect.fnUntraced(function* (
  script: string,
  sections: ReadonlyArray<Section>
) {
  const day = DateTime.formatIsoDate(yield* DateTime.now)
  const options = process.argv.slice(2)
  const command = [`npm run ${script}`, ...(options.length > 0 ? ["--", ...options] : [])].join(" ")
  const model = cpus()[0]?.model ?? "unknown"
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const here = `${cpus().length} cores (${model}), ${memory}, Node ${process.version}, ${autogroup()}`
  yield* Console.log(`\nMeasured on ${day} by \`${command}\`, on ${here}.`)
  for (const { text, title } of sections) yield* Console.log(`\n## ${title}\n\n${text}`)
})

export const positive = (name: string) =>
  Flag.Finite(name).pipe(
    Flag.filter(
      (value) => value > 0,
      () => `--${name} takes a positive number`
    )
  )

const expected = ["WrongAnswer", "DidNotStart", "PostgresDidNotStart"]

/** The message of a failure that the user can do something about. */
export const messageOf = (error: unknown): string | undefined =>
  error instanceof Error && expected.some((tag) => Predicate.isTagged(error, tag))
    ? error.message
    : undefined
