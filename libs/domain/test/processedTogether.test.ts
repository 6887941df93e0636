/**
 * A chunk of PROCESS leaves and answers the same, whether its lines are stored together or each
 * runs alone.
 * Source: docs/contract/batches.md#work.
 */
import { expect, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Logger, Option, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { encodeAccount } from "../src/accounts/Account.ts"
import { Batches } from "../src/batches/Batches.ts"
import { makeBatchWorker } from "../src/batches/BatchWorker.ts"
import { AttemptId, type ImportKey } from "../src/imports/ImportProcess.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { Reverts } from "../src/imports/Reverts.ts"
import { layerMemory as batchesLayer } from "../testing/memory/Batches.ts"
import { importOf, MemoryStore, putImport } from "../testing/memory/Store.ts"
import { put, type Wire } from "../testing/wire.ts"
import { linePrograms, settingsOf, startBatch, startedId } from "./batchPrograms.ts"
import { begin, demo, keyOf, processBody, programs, stageBody } from "./importPrograms.ts"
import { world as worldOfImports } from "./postImportPrograms.ts"

const world = Layer.mergeAll(worldOfImports, batchesLayer)

const id = startedId

/** Another text of what is staged, which is no longer valid. */
const stageWrong = (key: ImportKey, path: string, value: string) =>
  Effect.map(MemoryStore, (store) => {
    const present = importOf(store, key)
    if (present === undefined) throw new Error("Nothing is staged")
    const staged = JSON.parse(present.payload ?? "{}") as Wire
    putImport(store, { ...present, payload: JSON.stringify(put(staged, path, value)) })
  })

const stage = Effect.fnUntraced(function* ({ external_account_number }: ImportKey) {
  yield* (yield* programs()).stage(demo, stageBody({ external_account_number }))
})

const importNow = Effect.fnUntraced(function* (key: ImportKey) {
  yield* stage(key)
  const { external_account_number } = key
  yield* (yield* programs()).process(demo, processBody({ external_account_number }))
})

const claimNow = Effect.fnUntraced(function* (key: ImportKey) {
  yield* stage(key)
  const attempt = AttemptId.make(`of ${key.external_account_number}`)
  const limits = { deployment: null, supplier: null }
  const claim = { key, attempt, dryRun: false, lease: Duration.seconds(60), limits, caller: demo }
  yield* (yield* ImportProcesses).claim({ ...claim, at: yield* DateTime.now })
})

const revertNow = Effect.fnUntraced(function* (key: ImportKey) {
  const { account } = Option.getOrThrow(yield* (yield* ImportProcesses).find(key))
  if (account === null) throw new Error("There is no account")
  const { number } = account
  const order = { key, number, reason: "Wrong", decide: () => Result.succeed(true) }
  const at = yield* DateTime.now
  yield* (yield* Reverts).revert({ ...order, dryRun: false, caller: demo, at })
})

type Step = (key: ImportKey) => Effect.Effect<unknown, unknown, Layer.Success<typeof world>>

interface Kind {
  readonly before?: Step
  /** Once the batch has started. */
  readonly then?: Step
  /** Further members of the line. */
  readonly line?: Wire
  readonly isTogether?: boolean
}

const kinds = Object.entries<Kind>({
  pending: { before: stage, isTogether: true },
  invalid: {
    before: (key) => Effect.andThen(stage(key), stageWrong(key, "billing_email", "nobody")),
    isTogether: true
  },
  "without a document": {
    before: (key) =>
      Effect.andThen(stage(key), stageWrong(key, "statements.0.statement_path", "absent.pdf")),
    isTogether: true
  },
  imported: { before: importNow },
  "never staged": {},
  skipped: {
    before: (key) =>
      Effect.andThen(
        stage(key),
        Effect.flatMap(DateTime.now, (at) =>
          Effect.flatMap(ImportProcesses, (port) => port.setSkipped({ key, skipped: true, at }))
        )
      )
  },
  leased: { before: claimNow },
  reverted: { before: importNow, then: revertNow },
  "staged anew": { before: stage, then: stage, isTogether: true },
  refused: { before: stage, line: { dry_run: true } }
})

/** All that is stored, except random values. */
const stored = Effect.gen(function* () {
  const { accounts, audit, imports, outbox } = yield* MemoryStore
  const batches = yield* Batches
  const query = { id, afterLine: 0, outcome: null, limit: null, includesLater: true }
  const texts = yield* Stream.runCollect((yield* batches.results(query)).results)
  const isOf = (key: ImportKey) => (other: { readonly key: Partial<ImportKey> }) =>
    other.key.external_account_number === key.external_account_number
  return {
    counts: Option.getOrThrow(yield* batches.findOfAny(id)).counts,
    problems: yield* batches.problems({ id, limit: 100 }),
    sums: yield* batches.rehearsed(id),
    texts,
    imports: [...imports.values()]
      .flatMap((ofSupplier) => [...ofSupplier.values()])
      .map(({ attempts, hasFailed, process }) => ({
        hasFailed,
        state: { ...process, account: process.account?.createdAt },
        accounts: [...accounts.values()]
          .filter(isOf(process.key))
          .map(({ account }) => encodeAccount(account)),
        attempts: attempts.map((attempt) => ({ ...attempt, id: null })),
        audit: audit.filter(isOf(process.key) as never).map(({ entry }) => entry),
        events: outbox.filter(isOf(process.key)).map(({ event }) => event)
      }))
  }
})

/** Works on the lines of these kinds. Returns what is left after a turn and at the end. */
const work = Effect.fnUntraced(function* (
  mixed: typeof kinds,
  dryRun: boolean,
  isTogether: boolean
) {
  yield* begin({ customerEmails: true })
  const of = mixed.map(([, kind], index) => ({ kind, key: keyOf(`N${index}`) }))
  for (const { key, kind } of of) yield* kind.before?.(key) ?? Effect.void
  const lines = of.map(({ key, kind }) => ({
    external_account_number: key.external_account_number,
    ...kind.line
  }))
  yield* startBatch(
    settingsOf("PROCESS", { dryRun }),
    lines.map((line) => [line.external_account_number, line])
  )
  for (const { key, kind } of of) yield* kind.then?.(key) ?? Effect.void
  const all = yield* linePrograms()
  const accountImport = { ...all.accountImport, prepareProcessLine: () => Effect.succeed(null) }
  const batches = yield* Batches
  const together = new Set<number>()
  const watched: Batches["Service"] = {
    ...batches,
    take: (command) =>
      Effect.map(
        batches.take(command),
        Option.map((chunk) => ({
          ...chunk,
          finish: (finishing) => {
            for (const { end } of finishing.imports) together.add(end.line)
            return chunk.finish(finishing)
          }
        }))
      )
  }
  const settings = { chunks: 1, linesKeptFor: Duration.days(30), drain: Duration.zero }
  const running = isTogether ? all : { ...all, accountImport }
  const worker = makeBatchWorker(watched, running, settings)
  yield* worker.workOnce
  const first = yield* stored
  const due = mixed.flatMap(([, kind], index) => (kind.isTogether === true ? [index + 1] : []))
  expect([...together].toSorted((one, other) => one - other)).toEqual(isTogether ? due : [])
  yield* TestClock.adjust("61 seconds")
  while (yield* worker.workOnce);
  return { first, last: yield* stored }
})

const inFreshWorld = (...of: Parameters<typeof work>) =>
  work(...of).pipe(
    Effect.provide([Layer.fresh(world), TestClock.layer(), Logger.layer([])]),
    Effect.runPromise
  )

it("lines of PROCESS end together as they end alone", async () => {
  const some = fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(some, fc.boolean(), async (mixed, dryRun) => {
      const together = await inFreshWorld(mixed, dryRun, true)
      expect(together).toEqual(await inFreshWorld(mixed, dryRun, false))
    }),
    { numRuns: 30, examples: [true, false].map((dryRun) => [kinds, dryRun]) }
  )
})
