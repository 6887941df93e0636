/** Asks on stderr, because stdout is for the answer. Giving up interrupts the command. */
import { Effect, Terminal } from "effect"
import { Prompt } from "effect/cli"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { Refused } from "@data-import/terminal/Refused"

export const ask = Effect.fnUntraced(function* <A>(prompt: Prompt.Prompt<A>) {
  const terminal = yield* Terminal.Terminal
  const display = (text: string) => Effect.sync(() => void process.stderr.write(text))
  return yield* Prompt.run(prompt).pipe(
    Effect.provideService(Terminal.Terminal, Terminal.make({ ...terminal, display })),
    Effect.catchTag("QuitError", () => Effect.interrupt)
  )
})

/** Refuses unless the user agrees. `does` and `nothing` say what `--yes` does, and what a no left. */
export const confirm = Effect.fnUntraced(function* (
  message: string,
  said: { readonly does: string; readonly nothing: string }
) {
  if (!(yield* TerminalCapabilities).canPrompt) {
    const why = `There is no terminal to ask. --yes ${said.does} without asking.`
    return yield* new Refused({ why })
  }
  if (!(yield* ask(Prompt.Confirm({ message })))) return yield* new Refused({ why: said.nothing })
})
