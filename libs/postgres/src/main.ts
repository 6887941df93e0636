/**
 * The migration job: `node libs/postgres/src/main.ts` migrates the database that DATABASE_URL
 * names.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Config, Effect } from "effect"
import { migrate } from "./migrate.ts"

const job = Effect.gen(function* () {
  const applied = yield* migrate(yield* Config.Redacted("DATABASE_URL"))
  yield* Effect.log(applied.length > 0 ? `Migrated: ${applied.join(", ")}` : "Nothing to migrate")
})

NodeRuntime.runMain(job)
