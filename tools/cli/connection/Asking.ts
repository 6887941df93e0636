/** Asks on stderr, because stdout is for the answer. Giving up interrupts the command. */
import { Effect, Terminal } from "effect"
import { Prompt } from "effect/cli"

export const ask = Effect.fnUntraced(function* <A>(prompt: Prompt.Prompt<A>) {
  const terminal = yield* Terminal.Terminal
  const display = (text: string) => Effect.sync(() => void process.stderr.write(text))
  return yield* Prompt.run(prompt).pipe(
    Effect.provideService(Terminal.Terminal, Terminal.make({ ...terminal, display })),
    Effect.catchTag("QuitError", () => Effect.interrupt)
  )
})
