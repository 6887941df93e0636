/**
 * For any lines, a batch stores exactly what single requests store, and its results match their
 * answers.
 * Source: docs/contract/batches.md#operations, docs/contract/batches.md#results.
 */
import { expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Logger, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { encodeAccount } from "../src/accounts/Account.ts"
import { makeBatchWorker } from "../src/batches/BatchWorker.ts"
import type { Failure } from "../src/requests/Failure.ts"
import { Batches } from "../src/batches/Batches.ts"
import { layerMemory as batchesLayer } from "../testing/memory/Batches.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import { linePrograms, payload, settingsOf, startBatch, startedId } from "./batchPrograms.ts"
import { begin, demo, programs, supplierCode, team } from "./importPrograms.ts"
import { world as worldOfImports } from "./postImportPrograms.ts"

const world = Layer.mergeAll(worldOfImports, batchesLayer)

interface SentLine {
  readonly number: string | null
  readonly body: unknown
}

/** Few numbers, so that many lines share an account. */
const accountLine: fc.Arbitrary<SentLine> = fc
  .record({
    number: fc.constantFrom("A", "B", "C"),
    values: fc.constantFrom({}, {}, { billing_name: "New" }, { billing_email: "nobody" })
  })
  .map(({ number, values }) => ({
    number,
    body: payload({ external_account_number: number, ...values })
  }))

const line: fc.Arbitrary<SentLine> = fc.oneof(
  { weight: 6, arbitrary: accountLine },
  {
    weight: 1,
    arbitrary: fc.constantFrom<SentLine>(
      { number: null, body: [] },
      { number: null, body: "text" },
      { number: "A", body: { external_account_number: "A" } }
    )
  }
)

type Operation = "VALIDATE" | "STAGE" | "IMPORT"

/** The code of the answer to a single request; null for a success. */
const codeOf = <A>(request: Effect.Effect<A, Failure>) =>
  Effect.map(Effect.exit(request), (exit) =>
    Exit.isSuccess(exit) ? null : Option.getOrNull(Exit.findErrorOption(exit))?.code
  )

/** Sends the lines as single requests. Returns the answer to the last request of each. */
const sendSingly = Effect.fnUntraced(function* (
  operation: Operation,
  lines: ReadonlyArray<SentLine>,
  customerEmails: boolean
) {
  yield* begin({ customerEmails })
  const imports = yield* programs()
  const send = Effect.fnUntraced(function* ({ body, number }: SentLine) {
    const isObject = typeof body === "object" && !Array.isArray(body)
    const sent = isObject ? { ...body, import_supplier: supplierCode } : body
    if (operation === "VALIDATE") return yield* codeOf(imports.validate(demo, { payload: sent }))
    const staged = yield* codeOf(imports.stage(demo, { payload: sent }))
    if (operation === "STAGE" || staged !== null) return staged
    const key = { import_supplier: supplierCode, external_account_number: number }
    const processed = imports.process(demo, { payload: { ...key, operations_team_name: team } })
    return yield* codeOf(processed)
  })
  return yield* Effect.forEach(lines, send)
})

/** Sends the lines as a batch. Returns the code of each result. */
const sendAsBatch = Effect.fnUntraced(function* (
  operation: Operation,
  lines: ReadonlyArray<SentLine>,
  customerEmails: boolean
) {
  yield* begin({ customerEmails })
  yield* startBatch(
    settingsOf(operation),
    lines.map(({ body, number }) => [number, body])
  )
  const batches = yield* Batches
  const worker = makeBatchWorker(batches, yield* linePrograms(), {
    chunks: 1,
    linesKeptFor: Duration.days(30),
    drain: Duration.zero
  })
  while (yield* worker.workOnce);
  const query = { id: startedId, afterLine: 0, outcome: null, limit: null, includesLater: false }
  const { isComplete, results } = yield* batches.results(query)
  expect(isComplete).toBe(true)
  const texts = yield* Stream.runCollect(results)
  return texts.map(({ text }) => (JSON.parse(text) as ReadonlyArray<unknown>)[1])
})

/** All stored data of each import, except random values. */
const stored = Effect.map(MemoryStore, ({ accounts, audit, imports, outbox }) =>
  [...(imports.get(supplierCode) ?? [])]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([number, { attempts, payload: text, process }]) => {
      const account = process.account && accounts.get(process.account.number)
      return {
        number,
        text,
        isImported: process.account !== null,
        account: account && encodeAccount(account.account),
        attempts: attempts.map(({ errors, outcome }) => [outcome, errors]),
        audit: audit
          .filter(({ key }) => key.external_account_number === number)
          .map(({ entry }) => [entry.action, entry.outcome]),
        events: outbox
          .filter(({ key }) => key.external_account_number === number)
          .map(({ event }) => event.name)
      }
    })
)

const inFreshWorld = <A, E>(send: Effect.Effect<A, E, Layer.Success<typeof world>>) =>
  Effect.all([send, stored]).pipe(
    Effect.provide([Layer.fresh(world), TestClock.layer(), Logger.layer([])]),
    Effect.runPromise
  )

it.each<Operation>(["VALIDATE", "STAGE", "IMPORT"])(
  "%s leaves and answers what single requests do",
  async (operation) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        async (lines, emails) => {
          const [answers, left] = await inFreshWorld(sendSingly(operation, lines, emails))
          const [results, leftByBatch] = await inFreshWorld(sendAsBatch(operation, lines, emails))
          expect(results).toEqual(answers)
          expect(leftByBatch).toEqual(left)
        }
      ),
      { numRuns: 30 }
    )
  }
)
