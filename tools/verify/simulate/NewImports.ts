/**
 * Imports that are stored together with the ends of their lines: each must store what a staging and
 * a process store, and all of them atomically.
 */
import { Duration, Effect } from "effect"
import type { ChunkInHand, NewImport } from "@data-import/domain/ports/Batches"
import type { Caller } from "@data-import/domain/organisation/Organisation"
import { openedAccount } from "./AccountModel.ts"
import { batchOf, lineOf } from "./BatchModel.ts"
import { checkAccountLines, lastObservation, othersOf, same } from "./CallOracle.ts"
import { type Step, steps } from "./ImportModel.ts"
import { checkImport } from "./Invariants.ts"
import { begin, end } from "./Lifecycle.ts"
import { observe } from "./Observation.ts"
import { type LineStep, nameOf, type Order, type SentRequest } from "./Request.ts"
import type { World } from "./World.ts"

type Finishing = Parameters<ChunkInHand["finish"]>[0]

const none = { isTaken: () => false, liveLeases: () => 0 }

/** The result of the same steps as single requests, one after the other. */
const singly = (made: NewImport, caller: Caller): Step => {
  const { at, creation, hash, key, payload } = made
  const staged = steps.stage(null, { at, caller, key, payload, hash }, none)
  if (creation === null) return staged
  const { attempt, newAccount } = creation
  const lease = Duration.minutes(1)
  const limits = { deployment: null, supplier: null }
  const claimed = steps.claim(
    staged.row,
    { key, attempt, dryRun: false, lease, limits, caller, at },
    none
  )
  const completed = steps.complete(claimed.row, { key, attempt, newAccount, caller }, none)
  return {
    ...completed,
    audit: [...staged.audit, ...completed.audit],
    events: [...staged.events, ...completed.events]
  }
}

/** Adds a request to the history that took effect now. */
const happened = (
  world: World,
  { instance }: SentRequest,
  { line, order, message }: { readonly line: LineStep; order: Order; message: string }
): void => {
  const { organisation } = batchOf(world.batches, idOf(world, line))
  const asked = begin(world, { order, organisation, keyed: null, instance, slow: false, line })
  end(world, asked, { code: "ok", message })
}

const idOf = ({ batches }: World, { batch }: LineStep): string =>
  batches.find(({ name }) => name === batch)?.id ?? ""

/** Whether one of the accounts cannot have its number. */
const isNumberTaken = (world: World, imports: Finishing["imports"]): boolean => {
  const numbers = imports.flatMap(({ creation }) => creation?.newAccount.number ?? [])
  const { isTaken } = othersOf(world)
  return numbers.some((number) => isTaken(number)) || new Set(numbers).size < numbers.length
}

/** Returns the ends of the lines whose imports were stored. */
export const checkStoredTogether = Effect.fnUntraced(function* (
  world: World,
  request: SentRequest,
  { caller, imports }: Finishing,
  isStored: boolean
) {
  world.checks.that(
    isStored || isNumberTaken(world, imports),
    () => `r${request.id} cannot store what could be stored`
  )
  const id = world.sessions.findLast((each) => each.request === request)?.chunk.batch.id ?? ""
  const batch = batchOf(world.batches, id)
  const ends = []
  for (const made of imports) {
    const before = lastObservation(world, made.key)
    const after = yield* observe(world.storage, made.key)
    const name = nameOf(made.key)
    const what = `${name}, which r${request.id} stores with others`
    const isNew = isStored && before.row === null
    const step = isNew ? singly(made, caller) : { ...before, audit: [], events: [] }
    same(world, `${what}: the row`, after.row, step.row)
    same(world, `${what}: the audit log`, after.audit.slice(before.audit.length), step.audit)
    same(world, `${what}: the outbox`, after.events.slice(before.events.length), step.events)
    world.observations.set(name, after)
    if (isNew) {
      const { number, stage } = lineOf(batch, made.end.line)
      const line: LineStep = { batch: batch.name, line: number, step: "end", worker: request.id }
      const account = made.creation?.newAccount.number ?? null
      if (stage !== null) {
        world.staged.set(name, stage)
        happened(world, request, { line, order: stage, message: "first" })
      }
      if (account !== null) {
        const payload = stage?.payload ?? {}
        world.accounts.set(name, openedAccount(payload, made.at.epochMilliseconds))
        const { order } = { order: lineOf(batch, number).end }
        happened(world, request, { line, order, message: account })
      }
      ends.push(made.end)
    }
    checkAccountLines(world, what, after)
    checkImport(world.stateChecks, after)
  }
  return ends
})
