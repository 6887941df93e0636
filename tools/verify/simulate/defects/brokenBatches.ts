/** Batches with one mistake each, which loses a line, runs it twice, or counts wrongly. */
import { Effect, Option } from "effect"
import type { Batch, BatchId } from "@data-import/domain/batches/Batch"
import type { ChunkInHand } from "@data-import/domain/batches/Batches"
import {
  importOf,
  type StoredBatch,
  type StoredLine
} from "@data-import/domain/testing/memory/Store"
import { IdempotencyKey } from "@data-import/domain/idempotency/IdempotencyKey"
import { keysOf } from "@data-import/domain/batches/LineKey"
import type { Mutation } from "../InMemory.ts"
import { sessionLost } from "../Storage.ts"
import { before, claimedStaging, type Defects, on, type Store } from "./Planted.ts"

type Finishing = Parameters<ChunkInHand["finish"]>[0]

const alterBatches = (store: Store, how: (batch: Batch) => Batch): void => {
  for (const [id, stored] of store.batches) {
    store.batches.set(id, { ...stored, batch: how(stored.batch) })
  }
}

const alterLines = (
  store: Store,
  how: (line: StoredLine) => StoredLine,
  which: (stored: StoredBatch) => boolean = () => true
): void => {
  for (const stored of [...store.batches.values()].filter(which)) {
    store.batches.set(stored.batch.id, { ...stored, lines: stored.lines.map(how) })
  }
}

const deleteKeys = (store: Store, { id, organisation }: Batch, line: number): void => {
  for (const key of keysOf(id, line)) {
    store.idempotencyKeys.delete(JSON.stringify([organisation, key]))
  }
}

const taking = (change: (store: Store) => void): Mutation =>
  before("batches", "take", (store) => change(store))

const cancelling = (change: (store: Store) => void): Mutation =>
  before("batches", "cancelLines", (store) => change(store))

/** Finishes lines in another way. */
const finishing = (
  how: (
    finish: ChunkInHand["finish"],
    finishing: Finishing,
    store: Store,
    id: BatchId
  ) => ReturnType<ChunkInHand["finish"]>
): Mutation =>
  on("batches", "take", (take, command, store) =>
    Effect.map(
      take(command),
      Option.map((chunk) => ({
        ...chunk,
        finish: (given: Finishing) => how(chunk.finish, given, store, chunk.batch.id)
      }))
    )
  )

/** Alters the store after lines were finished. */
const finished = (change: (store: Store, given: Finishing, id: BatchId) => void): Mutation =>
  finishing((finish, given, store, id) =>
    Effect.tap(finish(given), () => Effect.sync(() => change(store, given, id)))
  )

export const brokenBatches: Defects = {
  "two workers take the same lines": {
    seed: 24,
    storage: taking((store) => alterLines(store, (line) => ({ ...line, isInHand: false })))
  },
  "lines of one account overtake each other": {
    seed: 8,
    storage: taking((store) =>
      alterLines(store, (line) => ({ ...line, externalAccountNumber: null }))
    )
  },
  "keys are deleted when lines are taken again": {
    seed: 376,
    storage: taking((store) => {
      for (const { batch, lines } of store.batches.values()) {
        for (const { end, isInHand, line } of lines) {
          if (end === null && !isInHand) deleteKeys(store, batch, line)
        }
      }
    })
  },
  "lines of a paused batch are taken": {
    seed: 8,
    storage: on("batches", "take", (take, command, store) => {
      const paused = new Map([...store.batches].map(([id, { batch }]) => [id, batch.pausedBy]))
      const pausedBy = (of: (id: BatchId) => Batch["pausedBy"]) =>
        alterBatches(store, (batch) => ({ ...batch, pausedBy: of(batch.id) }))
      pausedBy(() => new Set())
      const again = Effect.sync(() => pausedBy((id) => paused.get(id) ?? new Set()))
      return Effect.tap(take(command), () => again)
    })
  },
  "the end of the last line of a chunk is lost": {
    seed: 8,
    storage: finishing((finish, given) => finish({ ...given, ended: given.ended.slice(0, -1) }))
  },
  "lines are counted once more when their chunk is finished": {
    seed: 8,
    seen: 8,
    storage: finished((store, _, id) =>
      alterBatches(store, (batch) =>
        batch.id === id && batch.counts.received > batch.counts.succeeded
          ? { ...batch, counts: { ...batch.counts, succeeded: batch.counts.succeeded + 1 } }
          : batch
      )
    )
  },
  "results are lost although they are counted": {
    seed: 8,
    storage: finished((store, { ended }, id) =>
      alterLines(
        store,
        (line) => (line.line === ended[0]?.line ? { ...line, end: null } : line),
        ({ batch }) => batch.id === id
      )
    )
  },
  "an import that somebody has staged is replaced by that of a line": {
    seed: 264,
    storage: finishing((finish, given, store) => {
      for (const { key, staging } of given.imports) {
        if (staging !== null && importOf(store, key)?.process.account === null) {
          store.imports.get(key.import_supplier)?.delete(key.external_account_number)
        }
      }
      return finish(given)
    })
  },
  "the imports of a chunk are stored without their ends": {
    seed: 8,
    storage: finishing((finish, given) =>
      finish({
        ...given,
        imports: given.imports.map((made) => ({ ...made, end: { ...made.end, line: 1 } }))
      })
    )
  },
  "cancelling ends lines in hand": {
    seed: 992,
    storage: cancelling((store) =>
      alterLines(
        store,
        (line) => ({ ...line, isInHand: false }),
        ({ batch }) => batch.isCancelled
      )
    )
  },
  "cancelling forgets what lines have staged": {
    seed: 648,
    storage: cancelling((store) => {
      for (const { batch, lines } of store.batches.values()) {
        if (batch.isCancelled) for (const { line } of lines) deleteKeys(store, batch, line)
      }
    })
  },
  "cancelling forgets lines that were given back": {
    seed: 8,
    storage: cancelling((store) =>
      alterLines(store, (line) => (line.abandoned > 0 ? { ...line, isInHand: true } : line))
    )
  },
  "a line does not ask whether its account was reverted since the start": {
    seed: 1928,
    storage: on("imports", "claim", (claim, command) => claim({ ...command, since: null }))
  },
  "an upload stores lines again that were received": {
    seed: 24,
    storage: on("batches", "append", (append, command, store) =>
      append({ ...command, from: (store.batches.get(command.id)?.lines.length ?? 0) + 1 })
    )
  },
  "a worker that has lost its lines may go on": {
    seed: 2112,
    storage: () => ({
      afterSession: (operation, call) => (operation === "confirm" ? call : sessionLost)
    })
  },
  "a worker that has lost its lines may end them": {
    seed: 32,
    storage: () => ({
      afterSession: (operation, call) => (operation === "finish" ? call : sessionLost)
    })
  },
  "every run of a line has a key of its own": {
    seed: 376,
    programs: (programs) => {
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
    }
  },
  "a line is answered before it is stored": {
    seed: 8,
    programs: (programs) => ({
      ...programs,
      accountImport: {
        ...programs.accountImport,
        stageLine: (caller, body, keep, errors, batch) =>
          Effect.as(
            Effect.forkDetach(
              Effect.exit(programs.accountImport.stageLine(caller, body, keep, errors, batch))
            ),
            claimedStaging(body)
          )
      }
    })
  }
}
