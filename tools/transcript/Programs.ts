/** What programs say that users run: the guide's samples, the demo, and both commands. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { pages, run } from "@data-import/local/test/GuideSamples"
import { type Environment, inherited, NodeProcess } from "@data-import/testbed/NodeProcess"
import type { Transcript } from "./Transcript.ts"

export interface Place {
  readonly transcript: Transcript
  readonly env: Environment
}

const scripts = {
  "data-import": "tools/cli/main.ts",
  operator: "tools/operator/main.ts",
  demo: "tools/demo/main.ts"
}

/** Runs a command line, and records what it printed. */
export const ran = Effect.fnUntraced(function* (
  { env, transcript }: Place,
  [program = "", ...args]: ReadonlyArray<string>
) {
  const started = new NodeProcess({
    script: scripts[program as keyof typeof scripts],
    args,
    env: inherited({ NO_COLOR: "1", ...env })
  })
  const { err, out, status } = yield* Effect.promise(() => started.ended)
  transcript.printed([program, ...args].join(" "), status, out + err)
  return out
})

/** Of the commands that supplier and operator run, each that does not last. */
const commands: ReadonlyArray<string> = [
  "data-import --help",
  "data-import check BOOK",
  "data-import check BOOK --json",
  "data-import check ../nowhere.ndjson",
  "data-import configuration DEMO_ENERGY",
  "data-import send BOOK --supplier DEMO_ENERGY --import --team TEAM --failed FAILED",
  "data-import batch list DEMO_ENERGY",
  "data-import summary DEMO_ENERGY",
  "data-import import show DEMO_ENERGY T-0001",
  "data-import reconcile BOOK --supplier DEMO_ENERGY",
  "data-import certify BOOK --supplier DEMO_ENERGY --totals",
  "operator --help",
  "operator organisation create third",
  "operator organisation create third",
  "operator organisation list --json",
  "operator key issue third --scope import:read --label transcript",
  "operator key list third",
  "operator supplier create THIRD --organisation third --time-zone Europe/Berlin",
  "operator supplier set THIRD --concurrency-limit 3",
  "operator supplier set-status THIRD paused",
  "operator supplier list",
  "operator supplier summary DEMO_ENERGY",
  "operator team list",
  "operator choice add sales_channel TRANSCRIPT",
  "operator choice list",
  "operator import show DEMO_ENERGY T-0001",
  "operator import list DEMO_ENERGY --failed",
  "operator import skip DEMO_ENERGY T-0003",
  "operator import unskip DEMO_ENERGY T-0003",
  "operator erase DEMO_ENERGY T-0002 --accept-loss",
  "operator batch list --all --json",
  "operator webhook list",
  "operator audit verify",
  "operator check list"
]

export const commandLines = Effect.fnUntraced(function* (
  place: Place,
  named: Readonly<Record<string, string>>
) {
  for (const command of commands) {
    yield* ran(
      place,
      command.split(" ").map((word) => named[word] ?? word)
    )
  }
})

/** A book of good lines and faulty ones. */
export const writeBook = (folder: string, import_supplier: string) => {
  const BOOK = join(folder, "book.ndjson")
  const line = (number: string, more: object = {}) =>
    JSON.stringify({
      ...domesticPayload(),
      import_supplier,
      external_account_number: number,
      ...more
    })
  const lines = [
    line("T-0001"),
    line("T-0002"),
    line("T-0003", { transfer_balance: 12.345 }),
    line("T-0004", { customers: [{ mobile: "12345" }] }),
    line("T-0001"),
    "no JSON"
  ]
  writeFileSync(BOOK, `${lines.join("\n")}\n`)
  return { BOOK, FAILED: join(folder, "failed.ndjson") }
}

/** The samples of every page of the guide, in TypeScript. The manual of the command has none. */
export const guide = (env: Readonly<Record<string, string>>) =>
  Effect.promise(async () => {
    const recorded = pages.filter((page) => page !== "command").toSorted()
    for (const page of recorded) await run(page, "ts", env, (code) => code, "")
  })
