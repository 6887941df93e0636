/** The command in this process, as a user with an environment and a home of their own runs it. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { type Cause, ConfigProvider, Effect, Option, Queue, Terminal } from "effect"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { TestConsole } from "effect/testing"
import { vi } from "vitest"
import { exitStatusOf } from "@data-import/terminal/ExitStatus"
import { run } from "../DataImport.ts"
import { folder } from "./commandLine.ts"

type Environment = Readonly<Record<string, string>>

/** A terminal at which somebody types this and presses Enter. */
const typing = (text: string) =>
  Effect.gen(function* () {
    const keys = yield* Queue.unbounded<Terminal.UserInput, Cause.Done>()
    const key = (name: string, input: Option.Option<string>) => ({
      input,
      key: { name, ctrl: false, meta: false, shift: false }
    })
    for (const letter of text) yield* Queue.offer(keys, key(letter, Option.some(letter)))
    yield* Queue.offer(keys, key("return", Option.none()))
    return Terminal.make({
      columns: Effect.succeed(80),
      rows: Effect.succeed(24),
      size: Effect.die("nobody asks for its size"),
      readInput: Effect.succeed(keys),
      readLine: Effect.succeed(text),
      display: () => Effect.die("it asks on stderr")
    })
  })

/** What is written past the console, as questions are, does not get into the report of the tests. */
const silently = Effect.acquireRelease(
  Effect.sync(() => vi.spyOn(process.stderr, "write").mockReturnValue(true)),
  (spy) => Effect.sync(() => spy.mockRestore())
)

/** A user with a home of their own. */
export const user = (environment: Environment = {}) =>
  Effect.map(folder, (home) => {
    const own = { XDG_CONFIG_HOME: home.path("config"), XDG_STATE_HOME: home.path("state") }
    const settings = ConfigProvider.fromUnknown({ ...own, ...environment })
    const runWith = (args: ReadonlyArray<string>, typed: string | undefined) =>
      Effect.gen(function* () {
        const capabilities = { canColor: false, canAnimate: false, canPrompt: typed !== undefined }
        yield* silently
        const exit = yield* run(args, "1.2.3").pipe(
          Effect.provideService(Terminal.Terminal, yield* typing(typed ?? "")),
          Effect.provideService(TerminalCapabilities, capabilities),
          Effect.provide([NodeServices.layer, ConfigProvider.layer(settings)]),
          Effect.exit
        )
        const out = (yield* TestConsole.logLines).join("\n")
        const err = (yield* TestConsole.errorLines).join("\n")
        return { status: exitStatusOf(exit), out, err }
      }).pipe(Effect.scoped, Effect.provide(TestConsole.layer))
    return {
      home,
      /** Runs a command line without a terminal. */
      run: (...args: ReadonlyArray<string>) => runWith(args, undefined),
      /** Runs a command line at a terminal, and types this when asked. */
      type: (typed: string, ...args: ReadonlyArray<string>) => runWith(args, typed)
    }
  })

/** The environment with which every command reaches this tenant. */
export const environmentOf = (tenant: {
  readonly apiKey: string
  readonly baseUrl: string
}): Environment => ({ DATA_IMPORT_URL: tenant.baseUrl, DATA_IMPORT_API_KEY: tenant.apiKey })
