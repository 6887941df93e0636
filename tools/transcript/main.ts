/**
 * The process that records how the system answers: `npm run transcript` makes the record anew on a
 * fresh system, and `npm run transcript -- --check` compares it with the one that is kept. What
 * differs is either a fault, or a change that the commit names.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { Effect, FileSystem } from "effect"
import { Command, Flag } from "effect/cli"
import { Failed, runMain } from "@data-import/testbed/CommandLine"
import { record } from "./Record.ts"

const folder = join(import.meta.dirname, "record")
const compare = ["--no-pager", "diff", "--no-index", "--unified=1"]

const command = Command.make(
  "transcript",
  {
    checks: Flag.Boolean("check").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Compare with the record, instead of making it anew")
    )
  },
  Effect.fnUntraced(function* ({ checks }) {
    const fs = yield* FileSystem.FileSystem
    const into = checks ? yield* fs.makeTempDirectory() : folder
    yield* fs.makeDirectory(into, { recursive: true })
    for (const [name, text] of yield* record) {
      yield* fs.writeFileString(join(into, `${name}.txt`), text)
    }
    if (!checks) return
    const { status } = spawnSync("git", [...compare, folder, into], { stdio: "inherit" })
    if (status !== 0) return yield* new Failed({ message: `It differs: see ${into}.` })
  })
).pipe(Command.withDescription("Records how a fresh system answers, or compares with the record"))

runMain(command)
