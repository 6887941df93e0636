/** What `operator` and `data-import` have in common: every command of both, one after the other. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Command } from "effect/cli"
import { TestConsole } from "effect/testing"
import { operator, run as runOperator } from "@data-import/operator/Operator"
import type { Ports } from "@data-import/operator/Storage"
import { exitStatusOf } from "@data-import/terminal/ExitStatus"
import { dataImport, run as runDataImport } from "../DataImport.ts"
import { version } from "../Version.ts"

type Words = ReadonlyArray<string>

const noStorage = Layer.effectContext<Ports, never, never>(
  Effect.die("no command line here needs the storage")
)

const run = ([program, ...args]: Words) =>
  program === "operator" ? runOperator(args, noStorage, "tester") : runDataImport(args, version)

const ended = Effect.fnUntraced(function* (words: Words) {
  const exit = yield* Effect.exit(Effect.provide(run(words), NodeServices.layer))
  const out = (yield* TestConsole.logLines).join("\n")
  const err = (yield* TestConsole.errorLines).join("\n")
  return { status: exitStatusOf(exit), out, err }
}, Effect.provide(TestConsole.layer))

interface Found {
  readonly words: Words
  readonly command: Command.Command.Any
  readonly isGroup: boolean
}

const commandsIn = (words: Words, command: Command.Command.Any): ReadonlyArray<Found> => {
  const inner = command.subcommands.flatMap(({ commands }) => commands)
  return [
    { words, command, isGroup: inner.length > 0 },
    ...inner.flatMap((each) => commandsIn([...words, each.name], each))
  ]
}

const both = [
  ...commandsIn(["operator"], operator),
  ...commandsIn(["data-import"], await Effect.runPromise(dataImport(["--completions"])))
]

/** The lines of a help that explain arguments, flags and subcommands. */
const entriesOf = (help: string): ReadonlyArray<string> =>
  help
    .split("\n\n")
    .map((section) => section.split("\n"))
    .filter(([heading = ""]) => /^(ARGUMENTS|FLAGS|GLOBAL FLAGS|SUBCOMMANDS)$/.test(heading))
    .flatMap(([, ...lines]) => lines)

const named = both.map((found) => [found.words.join(" "), found] as const)

describe("every command", () => {
  it("is found", () => {
    const leaves = both.filter(({ isGroup }) => !isGroup).map(({ words }) => words.join(" "))
    expect(leaves).toContain("operator supplier summary")
    expect(leaves).toContain("data-import batch results")
    expect(leaves.length).toBeGreaterThan(50)
  })

  it.effect.each(named)("%s has help on stdout, with what each word means", ([, { words }]) =>
    Effect.gen(function* () {
      const { err, out, status } = yield* ended([...words, "--help"])
      expect({ err, status }).toEqual({ err: "", status: 0 })
      for (const flag of ["--help", "--version", "--completions", "--json"]) {
        expect(out).toContain(flag)
      }
      for (const line of entriesOf(out)) {
        const [left = "", right] = line.trim().split(/ {2,}/)
        expect(left).not.toMatch(/ (string|integer)$/)
        expect(right, left).toMatch(/^[A-Z]/)
      }
    })
  )

  it.effect.each(named.filter(([, { isGroup }]) => !isGroup))(
    "%s has an example that begins with it",
    ([name, { command, words }]) =>
      Effect.gen(function* () {
        expect(command.examples.length).toBeGreaterThan(0)
        expect(command.examples.some((example) => example.command.includes(name))).toBe(true)
        for (const { description } of command.examples) expect(description).toMatch(/^[A-Z].*[^.]$/)
        const { out } = yield* ended([...words, "--help"])
        expect(out).toContain(`  ${command.examples[0]?.command}`)
      })
  )

  it.effect.each(named)("%s refuses a wrong flag with 2, on stderr only", ([name, { words }]) =>
    Effect.gen(function* () {
      const { err, out, status } = yield* ended([...words, "--no-such-flag"])
      expect({ out, status }).toEqual({ out: "", status: 2 })
      expect(err).toMatch(/^\s*ERROR/)
      expect(err).toContain("--no-such-flag")
      expect(err).toContain(`See ${name} --help`)
    })
  )
})

describe("both commands", () => {
  it.effect.each(["operator", "data-import"])("%s has the version of its package", (program) =>
    Effect.gen(function* () {
      const { out, status } = yield* ended([program, "--version"])
      expect({ out, status }).toEqual({ out: version, status: 0 })
    })
  )

  it.effect.each([
    ["operator", "bash", /^complete .* operator$/m],
    ["operator", "zsh", /^#compdef operator/],
    ["data-import", "bash", /^complete .* data-import$/m],
    ["data-import", "zsh", /^#compdef data-import/]
  ] as const)("%s completes its words in %s", ([program, shell, script]) =>
    Effect.gen(function* () {
      const { out, status } = yield* ended([program, "--completions", shell])
      expect(status).toBe(0)
      expect(out).toMatch(script)
      const first = both.filter(({ words }) => words[0] === program && words.length === 2)
      for (const { command } of first) expect(out).toContain(command.name)
    })
  )

  it.effect.each(["operator", "data-import"])("%s refuses a wrong command with 2", (program) =>
    Effect.gen(function* () {
      const { err, out, status } = yield* ended([program, "no-such-command"])
      expect({ out, status }).toEqual({ out: "", status: 2 })
      expect(err).toContain("no-such-command")
    })
  )
})
