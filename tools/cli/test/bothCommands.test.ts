/** Common properties of `operator` and `data-import`, checked for every command of both. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Layer } from "effect"
import type { Command } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { TestClock, TestConsole } from "effect/testing"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { operator, run as runOperator } from "@data-import/operator/Operator"
import type { Explained } from "@data-import/operator/Refused"
import type { Ports } from "@data-import/operator/Storage"
import { exitStatusOf } from "@data-import/terminal/ExitStatus"
import { dataImport, run as runDataImport } from "../DataImport.ts"
import { version } from "../Version.ts"

type Words = ReadonlyArray<string>

const noStorage = Layer.effectContext<Ports, Explained, never>(
  Effect.die("no command line here needs the storage")
)

const run = ([program, ...args]: Words, storage = noStorage) =>
  program === "operator" ? runOperator(args, storage, "tester") : runDataImport(args, version)

const ended = Effect.fnUntraced(function* (words: Words, storage: typeof noStorage = noStorage) {
  const exit = yield* Effect.exit(Effect.provide(run(words, storage), NodeServices.layer))
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

const unavailable = Layer.effectContext<Ports, Explained, never>(
  Effect.fail(new StorageUnavailable({ cause: new Error("ECONNREFUSED") }))
)

const environment = ConfigProvider.layer(
  ConfigProvider.fromUnknown({
    DATA_IMPORT_URL: "http://127.0.0.1:1",
    DATA_IMPORT_API_KEY: "sk_test_0000"
  })
)

/** A `fetch` that refuses every connection at once. */
const refusing: typeof fetch = () => Promise.reject(new TypeError("ECONNREFUSED"))

/** Lets the time pass that a command waits before it tries again. */
const passing = Effect.andThen(
  TestClock.adjust("1 minute"),
  Effect.promise(() => new Promise(setImmediate))
)

/** The end of a command line that reaches nothing. */
const endedUnconnected = (words: Words) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(ended(words, unavailable))
    while (fiber.pollUnsafe() === undefined) yield* passing
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provideService(FetchHttpClient.Fetch, refusing), Effect.provide(environment))

/** The words of a line as a shell reads them. */
const wordsOf = (text: string): Words =>
  [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "")

/** Commands that read a file or a terminal before they connect, or do not connect. */
const local = new Set([
  "certify",
  "certificate verify",
  "check",
  "documents",
  "login",
  "map",
  "profile",
  "reconcile",
  "rehearse",
  "send",
  "totals set"
])

const connecting = both
  .filter(({ isGroup, words: [program, noun = "", verb = ""] }) => {
    const isLocal = local.has(noun) || local.has(`${noun} ${verb}`)
    return !isGroup && !(program === "data-import" && isLocal)
  })
  .flatMap(({ command }) => command.examples.map((example) => example.command))
  // The environment, which comes before a profile, is mentioned on stderr.
  .filter((text) => !text.includes("--profile"))

describe("the examples of every command that connects", () => {
  it.effect.each(connecting)(
    "%s: ends with 2 and one line on stderr without a connection",
    (text) =>
      Effect.gen(function* () {
        const { err, out, status } = yield* endedUnconnected(wordsOf(text))
        expect({ out, status }).toEqual({ out: "", status: 2 })
        expect(err).toMatch(
          text.startsWith("operator")
            ? /^\nERROR\n {2}The database cannot be reached\..*$/
            : /^\nERROR\n {2}Cannot reach http:\/\/127\.0\.0\.1:1: ECONNREFUSED\.$/
        )
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

  it.effect.each(["operator", "data-import"])("%s states the form of a wrong value", (program) =>
    Effect.gen(function* () {
      const list = yield* ended([program, "batch", "list", "ACME", "--limit", "0"])
      expect(list).toMatchObject({ out: "", status: 2 })
      expect(list.err).toContain("a whole number from 1 to 1000")
      const show = yield* ended([program, "batch", "show", "first"])
      expect(show).toMatchObject({ out: "", status: 2 })
      expect(show.err).toContain("a UUID in lower case, as batch list prints it")
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
