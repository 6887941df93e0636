/**
 * Batches that are broken on purpose, each by one plausible mistake that loses a line, runs it
 * twice, or counts wrongly.
 */
import { Effect, Option } from "effect"
import type { Batch, BatchId } from "@data-import/domain/batch/Batch"
import type { Batches, ChunkInHand } from "@data-import/domain/ports/Batches"
import { type ImportKey, PayloadHash } from "@data-import/domain/account/ImportProcess"
import { importOf, type StoredBatch, type StoredLine } from "@data-import/domain/ports/memory/Store"
import { IdempotencyKey } from "@data-import/domain/requests/IdempotencyKey"
import { keysOf } from "@data-import/domain/requests/LineKey"
import { sessionLost } from "../SessionLost.ts"
import type { Mutation } from "../InMemory.ts"
import type { Programs } from "../Programs.ts"

type Store = Parameters<Mutation>[1]
type Finishing = Parameters<ChunkInHand["finish"]>[0]

const alterBatches = (
  store: Store,
  how: (batch: Batch, lines: ReadonlyArray<StoredLine>) => Batch
): void => {
  for (const [id, stored] of store.batches) {
    store.batches.set(id, { ...stored, batch: how(stored.batch, stored.lines) })
  }
}

const alterLines = (
  store: Store,
  how: (line: StoredLine) => StoredLine,
  which: (stored: StoredBatch) => boolean = () => true
): void => {
  for (const { batch, lines } of [...store.batches.values()].filter(which)) {
    const stored = store.batches.get(batch.id)
    if (stored !== undefined) store.batches.set(batch.id, { ...stored, lines: lines.map(how) })
  }
}

const deleteKeys = (store: Store, { id, organisation }: Batch, line: number): void => {
  for (const key of keysOf(id, line)) {
    store.idempotencyKeys.delete(JSON.stringify([organisation, key]))
  }
}

/** Alters the store before lines are taken. */
const takingAfter =
  (before: (store: Store) => void): Mutation =>
  ({ batches }, store) => ({
    batches: {
      ...batches,
      take: (command) => Effect.suspend(() => (before(store), batches.take(command)))
    }
  })

/** Finishes lines in another way. */
const finishing =
  (
    how: (
      finish: ChunkInHand["finish"],
      finishing: Finishing,
      store: Store,
      id: BatchId
    ) => ReturnType<ChunkInHand["finish"]>
  ): Mutation =>
  ({ batches }, store) => ({
    batches: {
      ...batches,
      take: (command) =>
        Effect.map(
          batches.take(command),
          Option.map((chunk) => ({
            ...chunk,
            finish: (given: Finishing) => how(chunk.finish, given, store, chunk.batch.id)
          }))
        )
    }
  })

const cancellingAfter =
  (before: (store: Store) => void): Mutation =>
  ({ batches }, store) => ({
    batches: {
      ...batches,
      cancelLines: (at) => Effect.suspend(() => (before(store), batches.cancelLines(at)))
    }
  })

type Append = Batches["Service"]["append"]

/** By what is wrong. */
export const brokenBatches: Readonly<Record<string, Mutation>> = {
  "two workers take the same lines": takingAfter((store) =>
    alterLines(store, (line) => ({ ...line, isInHand: false }))
  ),
  "lines of one account overtake each other": takingAfter((store) =>
    alterLines(store, (line) => ({ ...line, externalAccountNumber: null }))
  ),
  "keys are deleted when lines are taken again": takingAfter((store) => {
    for (const { batch, lines } of store.batches.values()) {
      for (const { end, isInHand, line } of lines) {
        if (end === null && !isInHand) deleteKeys(store, batch, line)
      }
    }
  }),
  "lines of a paused batch are taken": ({ batches }, store) => ({
    batches: {
      ...batches,
      take: (command) =>
        Effect.suspend(() => {
          const paused = new Map([...store.batches].map(([id, { batch }]) => [id, batch.pausedBy]))
          alterBatches(store, (batch) => ({ ...batch, pausedBy: new Set() }))
          return Effect.tap(batches.take(command), () =>
            Effect.sync(() =>
              alterBatches(store, (batch) => ({
                ...batch,
                pausedBy: paused.get(batch.id) ?? new Set()
              }))
            )
          )
        })
    }
  }),
  "the end of the last line of a chunk is lost": finishing((finish, given) =>
    finish({ ...given, ended: given.ended.slice(0, -1) })
  ),
  "lines are counted once more when their chunk is finished": finishing(
    (finish, given, store, id) =>
      Effect.tap(finish(given), () =>
        Effect.sync(() =>
          alterBatches(store, (batch) =>
            batch.id === id && batch.counts.received > batch.counts.succeeded
              ? { ...batch, counts: { ...batch.counts, succeeded: batch.counts.succeeded + 1 } }
              : batch
          )
        )
      )
  ),
  "results are lost although they are counted": finishing((finish, given, store, id) =>
    Effect.tap(finish(given), () =>
      Effect.sync(() =>
        alterLines(
          store,
          (line) => (line.line === given.ended[0]?.line ? { ...line, end: null } : line),
          ({ batch }) => batch.id === id
        )
      )
    )
  ),
  "an import that somebody has staged is replaced by that of a line": finishing(
    (finish, given, store) =>
      Effect.suspend(() => {
        for (const { key } of given.imports) {
          if (importOf(store, key)?.process.account === null) {
            store.imports.get(key.import_supplier)?.delete(key.external_account_number)
          }
        }
        return finish(given)
      })
  ),
  "the imports of a chunk are stored without their ends": finishing((finish, given) =>
    finish({
      ...given,
      imports: given.imports.map((made) => ({ ...made, end: { ...made.end, line: 1 } }))
    })
  ),
  "cancelling ends lines in hand": cancellingAfter((store) =>
    alterLines(
      store,
      (line) => ({ ...line, isInHand: false }),
      ({ batch }) => batch.isCancelled
    )
  ),
  "cancelling forgets what lines have staged": cancellingAfter((store) => {
    for (const { batch, lines } of store.batches.values()) {
      if (batch.isCancelled) for (const { line } of lines) deleteKeys(store, batch, line)
    }
  }),
  "cancelling forgets lines that were given back": cancellingAfter((store) =>
    alterLines(store, (line) => (line.abandoned > 0 ? { ...line, isInHand: true } : line))
  ),
  "an upload stores lines again that were received": ({ batches }, store) => ({
    batches: {
      ...batches,
      append: ((command) => {
        const received = store.batches.get(command.id)?.lines.length ?? 0
        return batches.append({ ...command, from: received + 1 })
      }) satisfies Append
    }
  }),
  "a worker that has lost its lines may go on": () => ({
    afterSession: (operation, call) => (operation === "confirm" ? call : sessionLost)
  }),
  "a worker that has lost its lines may end them": () => ({
    afterSession: (operation, call) => (operation === "finish" ? call : sessionLost)
  })
}

/** By what is wrong. */
export const brokenBatchPrograms: Readonly<Record<string, (programs: Programs) => Programs>> = {
  "every run of a line has a key of its own": (programs) => {
    let runs = 0
    return {
      ...programs,
      writes: {
        run: (request, textOf, write) => {
          runs += 1
          const key = IdempotencyKey.make(`${request.key} ${runs}`)
          const isLine = request.key.startsWith("\u0001")
          return programs.writes.run(isLine ? { ...request, key } : request, textOf, write)
        }
      }
    }
  },
  "a line is answered before it is stored": (programs) => ({
    ...programs,
    accountImport: {
      ...programs.accountImport,
      stageLine: (caller, body, keep, errors, cohort) =>
        Effect.gen(function* () {
          const staging = programs.accountImport.stageLine(caller, body, keep, errors, cohort)
          yield* Effect.forkDetach(Effect.exit(staging))
          const { payload } = body as { readonly payload: ImportKey }
          return {
            first: false,
            isSame: false,
            key: payload,
            hash: PayloadHash.make("0".repeat(64))
          }
        })
    }
  })
}
