/**
 * The operator command as its user runs it, in a process of its own. It works on the database of
 * the local run, so it has the `DATA_DIR` or `DATABASE_URL` of the demo.
 */
import { type Ended, NodeProcess } from "@data-import/testbed/NodeProcess"
import { Context, Effect } from "effect"

type Run = (args: ReadonlyArray<string>) => Effect.Effect<Ended>

const run: Run = (args) =>
  Effect.promise(
    () => new NodeProcess({ script: "tools/operator/main.ts", args, env: process.env }).ended
  )

export const Operator = Context.Reference<Run>("@data-import/demo/Operator", {
  defaultValue: () => run
})
