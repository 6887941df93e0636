/** The command in this process, and books to check in a folder of their own. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { putAll, type Wire } from "@data-import/domain/testing/wire"
import { Effect } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { exitStatusOf } from "@data-import/terminal/ExitStatus"
import { run } from "../DataImport.ts"

/** Runs a command line. Gives what it printed and its exit status. */
export const dataImport = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const before = { out: yield* TestConsole.logLines, err: yield* TestConsole.errorLines }
  const command = Effect.provide(run(args, "1.2.3"), NodeServices.layer)
  const exit = yield* Effect.exit(TestClock.withLive(command))
  const out = (yield* TestConsole.logLines).slice(before.out.length).join("\n")
  const err = (yield* TestConsole.errorLines).slice(before.err.length).join("\n")
  return { status: exitStatusOf(exit), out, err }
})

/** A folder that goes away with the scope. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "data-import-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
).pipe(
  Effect.map((path) => ({
    path: (name: string) => join(path, name),
    write: (name: string, content: string | Uint8Array) => {
      writeFileSync(join(path, name), content)
      return join(path, name)
    },
    read: (name: string) => readFileSync(join(path, name), "utf8")
  }))
)

let accounts = 0

/** An account as a line, with a number of its own. */
export const account = (values: Wire = {}): string => {
  const own = { external_account_number: `NL-${++accounts}` }
  return JSON.stringify(putAll(domesticPayload(), { ...own, ...values }))
}

/** Lines as a book. */
export const book = (...lines: ReadonlyArray<string>): string => `${lines.join("\n")}\n`

interface Example {
  readonly line: number
  readonly row?: number
  readonly column?: string
  readonly value: string | null
  readonly detail: string
}

export interface Answer {
  readonly import_supplier: string | null
  readonly lines: number
  readonly valid_lines: number
  readonly failed_lines: number
  readonly problems: ReadonlyArray<{
    readonly code: string
    readonly attr: string
    readonly lines: number
    readonly cleared_lines: number
    readonly remedy: string
    readonly examples: ReadonlyArray<Example>
  }>
  readonly warned_lines: number
  readonly warnings: ReadonlyArray<{
    readonly code: string
    readonly examples: ReadonlyArray<Example>
  }>
  readonly notes: ReadonlyArray<string>
}

/** Checks a book, and gives the answer for machines. */
export const checked = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { out, status } = yield* dataImport("check", ...args, "--json")
  return { status, answer: JSON.parse(out) as Answer }
})

/** The problems of an answer, each as a text with the number of its lines. */
export const problemsIn = ({ problems }: Answer): ReadonlyArray<string> =>
  problems.map(({ attr, code, lines }) => `${lines} ${code} ${attr}`)
