/** What processes allocate during an effect. They were started with `allocationArgs`. */
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Effect, Schedule } from "effect"

const sampling = join(import.meta.dirname, "allocationSampling.ts")

/** For Node, before the program of a process. */
export const allocationArgs: ReadonlyArray<string> = [`--import=${sampling}`]

const until = (isSo: () => boolean) =>
  Effect.repeat(Effect.sync(isSo), {
    schedule: Schedule.spaced("10 millis"),
    until: (so) => so
  })

/** Also the bytes that the processes allocated together meanwhile. */
export const withAllocations = Effect.fnUntraced(function* <A, E, R>(
  folder: string,
  processes: ReadonlyArray<{ readonly pid: number }>,
  effect: Effect.Effect<A, E, R>
) {
  const files = processes.map(({ pid }) => join(folder, String(pid)))
  const textOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : null)
  const signal = (isDone: (text: string | null) => boolean) =>
    Effect.andThen(
      Effect.sync(() => processes.forEach(({ pid }) => process.kill(pid, "SIGUSR2"))),
      until(() => files.every((file) => isDone(textOf(file))))
    )
  yield* signal((text) => text !== null)
  const answer = yield* effect
  yield* signal((text) => text !== null && text !== "")
  const bytes = files.reduce((sum, file) => sum + Number(textOf(file)), 0)
  files.forEach((file) => rmSync(file))
  return { answer, bytes }
})
