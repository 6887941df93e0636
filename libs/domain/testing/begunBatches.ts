/**
 * Batches of fresh suppliers in every state, for the contract suites. Each test ends its batches,
 * so that the next one does not take their lines.
 */
import { type DateTime, Effect, Option, Result, Stream } from "effect"
import * as Batch from "../src/batches/Batch.ts"
import type { AccountNumber } from "../src/accounts/Account.ts"
import type { EndedLine } from "../src/batches/BatchLine.ts"
import type * as Counts from "../src/batches/Counts.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import type { ResponseRecorder } from "../src/idempotency/IdempotencyKey.ts"
import type { Supplier } from "../src/suppliers/Supplier.ts"
import {
  type BatchChange,
  Batches,
  type ChunkInHand,
  type Created,
  type Creating,
  type ResultsQuery,
  type TakenLast
} from "../src/batches/Batches.ts"
import { callerOf, freshSupplier, noon } from "./freshNames.ts"

export interface Begun {
  readonly id: Batch.BatchId
  readonly caller: Caller
  readonly supplier: Supplier
}

export const encoder = new TextEncoder()

/** A line of this account number, or of none. */
export const lineOf = (
  externalAccountNumber: string | null,
  text = externalAccountNumber ?? ""
) => ({
  bytes: encoder.encode(text),
  externalAccountNumber
})

export const linesOf = (...numbers: ReadonlyArray<string | null>) =>
  numbers.map((each) => lineOf(each))

export const newId = (): Batch.BatchId => Batch.BatchId.make(crypto.randomUUID())

export const settingsOf = (supplier: Supplier): Batch.BatchSettings => ({
  ...Batch.defaultSettings,
  supplier: supplier.code,
  operation: "STAGE",
  name: "a book",
  cohort: "first wave",
  parameters: { check_previously_added: false }
})

/** Those of a batch that processes staged imports, and no others. */
export const processSettings = {
  ...Batch.defaultSettings,
  operation: "PROCESS",
  operationsTeam: "Migration Team"
} as const

/** Settings that differ from `settingsOf`, and how the batch is created. */
export type BatchOptions = Partial<Batch.BatchSettings> & {
  readonly id?: Batch.BatchId
  readonly limit?: number
  readonly recorder?: ResponseRecorder<Created> | null
}

export const createFor = Effect.fnUntraced(function* (
  { caller, supplier }: Omit<Begun, "id">,
  { id = newId(), recorder = null, limit = 20, ...changes }: BatchOptions = {}
) {
  const batches = yield* Batches
  const settings = { ...settingsOf(supplier), ...changes }
  return yield* batches.create({ id, settings, limit, caller, at: noon, recorder })
})

export const createdIn = (creating: Creating): Batch.Batch => {
  if (creating._tag !== "Created") throw new Error(creating._tag)
  return creating.batch
}

export const decided = Effect.fnUntraced(function* <E>(
  { caller, id }: Pick<Begun, "caller" | "id">,
  decide: BatchChange<E>["decide"],
  recorder: ResponseRecorder<Batch.Batch> | null = null
) {
  const batches = yield* Batches
  return yield* batches.change({ id, decide, action: "start_batch", caller, at: noon, recorder })
})

/** Starts the batch with this number of lines. */
export const start = (
  batch: Begun,
  lines: number,
  recorder: ResponseRecorder<Batch.Batch> | null = null
) =>
  decided(
    batch,
    (each, circumstances) =>
      Batch.start(each, lines, { ...circumstances, at: noon, apiKey: batch.caller.apiKey }),
    recorder
  )

export const cancelled = ({ caller, id }: Begun) =>
  Effect.gen(function* () {
    const batches = yield* Batches
    const cancelIfOpen = (batch: Batch.Batch) =>
      Batch.isFinal(batch) ? Result.succeed(batch) : Batch.cancel(batch, noon)
    yield* Effect.orDie(decided({ caller, id }, cancelIfOpen))
    yield* Effect.repeat(batches.cancelLines(noon), { while: (areMore) => areMore })
  }).pipe(Effect.orDie)

const cancelledIfThere = Effect.fnUntraced(function* (batch: Begun) {
  const batches = yield* Batches
  const present = yield* batches.find(batch.caller.organisation, batch.id)
  if (Option.isSome(present)) yield* cancelled(batch)
}, Effect.orDie)

/** A new batch of a new supplier, or of the given one. It ends with the test. */
export const begun = Effect.fnUntraced(function* ({
  of,
  ...options
}: BatchOptions & { readonly of?: Omit<Begun, "id"> } = {}) {
  const owner = of ?? (yield* freshSupplier)
  const { id } = createdIn(yield* createFor(owner, options))
  const batch: Begun = { id, caller: owner.caller, supplier: owner.supplier }
  yield* Effect.addFinalizer(() => cancelledIfThere(batch))
  return batch
})

export const append = Effect.fnUntraced(function* (
  { caller, id }: Begun,
  lines: ReadonlyArray<ReturnType<typeof lineOf>>,
  { from = 1, upload }: { readonly from?: number; readonly upload?: number } = {}
) {
  const batches = yield* Batches
  const used = upload ?? (yield* batches.beginUpload(id))
  const { apiKey } = caller
  return yield* batches.append({ id, apiKey, upload: used, from, lines, at: noon })
})

export const started = Effect.fnUntraced(function* (
  numbers: ReadonlyArray<string | null>,
  options?: Parameters<typeof begun>[0]
) {
  const batch = yield* begun(options)
  yield* append(batch, linesOf(...numbers))
  yield* start(batch, numbers.length)
  return batch
})

export const found = ({ caller, id }: Begun) =>
  Effect.flatMap(Batches, (batches) => batches.find(caller.organisation, id)).pipe(
    Effect.map(Option.getOrThrow)
  )

export const takeNext = (
  at: DateTime.Utc = noon,
  last: TakenLast | null = null,
  busy: Parameters<Batches["Service"]["take"]>[0]["busy"] = { keys: [], wait: false }
) => Effect.flatMap(Batches, (batches) => batches.take({ last, busy, at }))

export const taken = (at?: DateTime.Utc) => Effect.map(takeNext(at), Option.getOrThrow)

export const endOf =
  (outcome: Counts.LineOutcome, problems: EndedLine["problems"] = [], account?: AccountNumber) =>
  ({ externalAccountNumber, line }: ChunkInHand["lines"][number]): EndedLine => ({
    line,
    externalAccountNumber,
    outcome,
    text: JSON.stringify({ line, outcome, kraken_account_number: account }),
    problems
  })

export const finish = (
  chunk: ChunkInHand,
  ended: ReadonlyArray<EndedLine>,
  more: Partial<Parameters<ChunkInHand["finish"]>[0]> = {}
) =>
  chunk.finish({
    ended,
    imports: [],
    reverts: [],
    caller: callerOf(chunk.batch.organisation),
    postponed: [],
    waitingFor: null,
    waits: 0,
    readyAt: noon,
    at: noon,
    ...more
  })

const answered = ({ id }: Begun, query: Partial<ResultsQuery>) =>
  Effect.gen(function* () {
    const batches = yield* Batches
    const asked = { afterLine: 0, outcome: null, limit: null, includesLater: false, ...query, id }
    const { isComplete, results, through } = yield* batches.results(asked)
    return { results: yield* Stream.runCollect(results), through, isComplete }
  })

export const resultsOf = (batch: Begun, query: Partial<ResultsQuery> = {}) =>
  Effect.map(answered(batch, query), ({ isComplete, results, through }) => ({
    lines: results.map(({ line }) => line),
    through,
    isComplete
  }))

export const textsOf = (batch: Begun, query: Partial<ResultsQuery> = {}) =>
  Effect.map(answered(batch, query), ({ results }) => results.map(({ text }) => text))
