/** The local run, as `npm start` starts it, on a data directory of its own and a free port. */
import { join } from "node:path"
import { Data, Effect } from "effect"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import { type Environment, inherited, NodeProcess } from "./NodeProcess.ts"

/** The local run ended before it answered. */
class DidNotStart extends Data.TaggedError("DidNotStart")<{ readonly message: string }> {}

export interface LocalRun {
  readonly process: NodeProcess
  readonly dataDir: string
  readonly baseUrl: string
  /** The line that announces the address. */
  readonly line: string
}

/** The process, which may not answer yet. */
export const launch = (dataDir: string, extra: Environment = {}): NodeProcess =>
  new NodeProcess({
    script: "tools/local/main.ts",
    env: inherited({ DATA_DIR: dataDir, PORT: "0", ...extra })
  })

/** Waits until the local run announces its address; rejects when it ends before. */
export const announced = async (process: NodeProcess, dataDir: string): Promise<LocalRun> => {
  const line = await process.firstLine()
  const [baseUrl = ""] = /http:\/\/\S+$/.exec(line) ?? []
  return { process, dataDir, baseUrl, line }
}

/** A local run that answers. It stops with the scope, and its data directory goes with it. */
export const start = Effect.fnUntraced(function* (extra: Environment = {}) {
  const dataDir = join(yield* temporaryFolder(), "data")
  const process = yield* Effect.acquireRelease(
    Effect.sync(() => launch(dataDir, { LOG_LEVEL: "warn", ...extra })),
    (running) => running.stop()
  )
  return yield* Effect.tryPromise({
    try: () => announced(process, dataDir),
    catch: (cause) => new DidNotStart({ message: `The local run did not start: ${String(cause)}` })
  })
})
