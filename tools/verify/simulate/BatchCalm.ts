/**
 * The end of a run for its batches: every batch ends, and each line has stored what its result
 * says.
 */
import { Effect } from "effect"
import { ask, passTime } from "./Actions.ts"
import { watchBatches } from "./BatchWatch.ts"
import type { BatchRecord, LineRecord } from "./BatchModel.ts"
import { freeLines, workerWorks } from "./BatchTraffic.ts"
import { readResult } from "./LineResultText.ts"
import { effectsOf } from "./Repeats.ts"
import type { BatchAction, LineStep } from "./Request.ts"
import type { World } from "./World.ts"

const minute = 60_000

/** More than the tries of a line, and than the lines of a batch that can pause it. */
const rounds = 24

const stateOf = ({ heard }: BatchRecord): string => heard.state

const isFinal = (batch: BatchRecord): boolean => /^(COMPLETED|CANCELLED)/.test(stateOf(batch))

/** Whether an answer reports an added note or transaction. */
const addsSomething = (message: string): boolean =>
  /NOTE_CREATION_SUCCESS|TRANSACTION_ADDED_TO_ACCOUNT/.test(message)

/** Whether the request of the line succeeds although it stores nothing. */
const isWithoutEffect = ({ end }: LineRecord, message: string): boolean =>
  // Items that exist with other content succeed, and nothing is added.
  (/^(notes|transactions)$/.test(end.kind) && !addsSomething(message)) ||
  (end.kind === "revert" && end.dryRun)

/** What a step of a line has stored. */
const effectOf = (
  effects: ReturnType<typeof effectsOf>,
  { runs }: LineRecord,
  step: LineStep["step"]
): number =>
  runs.filter(({ line }) => line?.step === step).reduce((sum, asked) => sum + effects(asked), 0)

/** Checks that a line has stored what its result says, exactly once. */
const checkEffects = (world: World, { name }: BatchRecord, line: LineRecord): void => {
  if (line.result === null) return
  const effects = effectsOf(world)
  const [staged, ended] = (["stage", "end"] as const).map((step) => effectOf(effects, line, step))
  const { code, message, outcome } = readResult(line.result)
  const isRestaged = outcome === "ALREADY" && line.end.kind === "stage"
  const isEffective =
    outcome === "SUCCEEDED" && !line.isStoredTogether && !isWithoutEffect(line, message)
  // What it had stored may be what was reverted.
  const isReverted = code === "account_reverted"
  const isRight =
    (isRestaged || isReverted || ended === (isEffective ? 1 : 0)) &&
    (ended ?? 0) <= 1 &&
    (outcome !== "CANCELLED" || staged === (message === "" ? 0 : 1)) &&
    (staged ?? 0) <= 1
  world.stateChecks.that(
    isRight,
    () =>
      `line ${line.number} of ${name} is ${outcome} ${message}, and has stored ` +
      `${staged} times before its end, and ${ended} times with it`
  )
}

/** Lets every batch end. `finish` lets all requests end. */
export const calmBatches = Effect.fnUntraced(function* (
  world: World,
  finish: (world: World) => Effect.Effect<void>
) {
  const does = Effect.fnUntraced(function* (batch: BatchRecord, action: BatchAction) {
    const { name, organisation } = batch
    const order = { kind: "batch", batch: name, action } as const
    yield* ask(world, order, { organisation, repeats: null, key: batch.key })
    yield* finish(world)
  })
  const works = Effect.fnUntraced(function* (task: "lines" | "cancelLines" | "review") {
    const asked = yield* workerWorks(world, task)
    yield* finish(world)
    return typeof asked.answer === "object" && asked.answer?.message === "true"
  })
  while (world.sessions.some(({ isOver, request }) => !isOver && request.instance.crashed)) {
    yield* freeLines(world)
  }
  const batches = world.batches.filter(({ id }) => id !== null)
  for (const batch of batches) {
    batch.heard.known = true
    yield* does(batch, { does: "read" })
    if (batch.heard.state === "OPEN") {
      yield* does(batch, { does: "start", lines: batch.heard.received })
    }
  }
  for (let left = rounds; left > 0; left -= 1) {
    yield* works("review")
    while (yield* works("cancelLines"));
    while (yield* works("lines"));
    for (const batch of batches) {
      if (batch.heard.state === "PAUSED") yield* does(batch, { does: "resume" })
      yield* does(batch, { does: "read" })
    }
    if (batches.every((batch) => isFinal(batch))) break
    yield* passTime(world, 3 * minute)
  }
  yield* watchBatches(world, null)
  for (const batch of batches) {
    yield* does(batch, { does: "results" })
    const open = batch.lines.slice(0, batch.received).filter(({ result }) => result === null)
    world.stateChecks.that(
      isFinal(batch) && open.length === 0,
      () => `${batch.name} is ${stateOf(batch)}, and ${open.length} of its lines never end`
    )
    for (const line of batch.lines) checkEffects(world, batch, line)
  }
})
