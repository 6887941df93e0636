/** Reads after each call what is stored of its subject, and logs it where it differs from before. */
import { Effect, Exit, Option } from "effect"
import type { Reverts } from "@data-import/domain/imports/Reverts"
import { isWire } from "@data-import/domain/testing/wire"
import { learnOfChunk, watchBatches } from "./BatchWatch.ts"
import type { Executed } from "./CallScheduler.ts"
import { checkImport, checkKept } from "./Invariants.ts"
import { log, meet } from "./Lifecycle.ts"
import { observe, textOf } from "./Observation.ts"
import { type Call, nameOf } from "./Request.ts"
import type { World } from "./World.ts"

/** Observes the imports of these names. */
const watchImports = Effect.fnUntraced(function* (world: World, names: ReadonlySet<string>) {
  for (const key of world.keys) {
    const name = nameOf(key)
    if (!names.has(name)) continue
    const before = world.observations.get(name)
    const after = yield* observe(world.storage, key)
    world.observations.set(name, after)
    checkImport(world.stateChecks, after)
    if (before !== undefined) checkKept(world.stateChecks, before, after)
    const text = textOf(after)
    if (before === undefined || text !== textOf(before)) log(world, `${name} is ${text}`)
  }
})

/** The names of the imports that were staged, their attempts, and the numbers reverted. */
const storedIn = ({ observations }: World): ReadonlySet<string> =>
  new Set(
    [...observations].flatMap(([name, { row }]) =>
      row === null
        ? []
        : [name, ...row.attempts.map(({ id }) => id), ...row.reverted.map(({ number }) => number)]
    )
  )

/** The names of the imports that a command is about. */
const namesIn = (command: unknown): ReadonlyArray<string> => {
  if (!isWire(command)) return []
  const { imports = [], key, reverts = [] } = command
  const own = isWire(key)
    ? [`${String(key["import_supplier"])}/${String(key["external_account_number"])}`]
    : []
  return [...own, ...[imports, reverts].flat().flatMap(namesIn)]
}

/** Counts what a revert came before: the next calls of the other requests about its import. */
const meetRivals = (world: World, { args, exit, operation, request }: Executed): void => {
  const isOfRevert = operation === "Reverts.revert" && Exit.isSuccess(exit)
  const [command] = args
  if (!isOfRevert || !isWire(command) || command["dryRun"] === true) return
  const reverted = exit.value as Effect.Success<ReturnType<Reverts["Service"]["revert"]>>
  if (Option.isNone(reverted) || reverted.value.account === null) return
  const [name] = namesIn(command)
  for (const call of world.scheduler.waiting) {
    const { order } = call.request
    const isRival = call.request !== request && "key" in order && nameOf(order.key) === name
    if (isRival) meet(world, `a revert comes before ${call.operation}`)
  }
}

export const watchCall = Effect.fnUntraced(function* (world: World, executed: Executed) {
  const { args, exit, operation, request } = executed
  const [command] = args
  const attempt = isWire(command) ? command["attempt"] : undefined
  const call: Call = {
    operation,
    exit,
    at: world.time.now() + request.instance.skew,
    ...(typeof attempt === "string" && { attempt })
  }
  request.calls.push(call)
  const before = storedIn(world)
  const isOfAll = operation === "ImportProcesses.deletePayloads"
  yield* watchImports(world, new Set(isOfAll ? world.keys.map(nameOf) : namesIn(command)))
  meetRivals(world, executed)
  if (operation === "Batches.finish") {
    learnOfChunk(world, executed, storedIn(world).difference(before))
  }
  if (operation.startsWith("Batches.")) yield* watchBatches(world, executed)
})

/** Observes everything, also what no call was about. */
export const watchAll = Effect.fnUntraced(function* (world: World) {
  yield* watchImports(world, new Set(world.keys.map(nameOf)))
  yield* watchBatches(world, null)
})
