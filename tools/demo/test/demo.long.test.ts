/** The demo ends well against the local run, and so does filling the board. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as LocalRun from "@data-import/testbed/LocalRun"
import { inherited, NodeProcess } from "@data-import/testbed/NodeProcess"

it.live(
  "the demo walks a migration, and fills the board",
  Effect.fnUntraced(function* () {
    const { dataDir } = yield* LocalRun.start()
    const env = inherited({ DATA_DIR: dataDir })
    const run = (...args: ReadonlyArray<string>) =>
      Effect.promise(() => new NodeProcess({ script: "tools/demo/main.ts", args, env }).ended)
    const walked = yield* run()
    expect(walked.out + walked.err).toContain("All answers are as the contract says.")
    expect(walked.out).not.toMatch(/sk_\w{5}/)
    const filled = yield* run("--board")
    expect(filled.out + filled.err).toContain("40 migrations are on the board")
  }, Effect.scoped),
  300_000
)
