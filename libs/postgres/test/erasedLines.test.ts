/** Lines of batches that name an erased customer. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { receiveLineInSteps } from "@data-import/domain/batches/BatchUpload"
import type { EndedLine } from "@data-import/domain/batches/BatchLine"
import { Batches, type ChunkInHand } from "@data-import/domain/batches/Batches"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { finish as endOfSteps } from "@data-import/domain/support/Steps"
import {
  append,
  type Begun,
  begun,
  createFor,
  createdIn,
  encoder,
  finish,
  found,
  lineOf,
  linesOf,
  start,
  taken,
  textsOf
} from "@data-import/domain/testing/begunBatches"
import { freshSupplier, noonPlus, supplierOf } from "@data-import/domain/testing/freshNames"
import { stage } from "@data-import/domain/testing/importStates"
import * as TestDatabase from "../testing/TestDatabase.ts"

const number = ExternalAccountNumber.make(`zq "7" ü`)

const texts = ["one", number, "two", number, null] as const
const malformed = `{"external_account_number": ${JSON.stringify(number)}, broken`

const erase = (key: ImportKey) =>
  Effect.flatMap(Erasures, (port) => port.erase({ key, at: noonPlus(300) }))

/** A batch of a supplier, with a staged import of the number. */
const staged = Effect.gen(function* () {
  const of = yield* freshSupplier
  const key = { import_supplier: of.supplier.code, external_account_number: number }
  yield* stage(of, [key.external_account_number])
  const batch = yield* begun({ of })
  const lines = texts.map((each) => lineOf(each, each ?? malformed))
  yield* append(batch, lines)
  return { batch, key, of }
})

const endWith =
  (problems: EndedLine["problems"]) =>
  ({ externalAccountNumber, line }: ChunkInHand["lines"][number]): EndedLine => ({
    line,
    externalAccountNumber,
    outcome: "FAILED",
    text: JSON.stringify({
      line,
      external_account_number: externalAccountNumber,
      outcome: "FAILED",
      status: 400,
      kraken_account_number: "A-00000001",
      error: { code: "account_failed_validation", detail: "zq", errors: problems }
    }),
    problems
  })

const failed = (line: ChunkInHand["lines"][number]): EndedLine =>
  endWith([
    { code: "max_length", attr: "notes.*.body", detail: `zq ${line.line}` },
    { code: "unknown_field", attr: line.line === 2 ? "zqOwn" : "everybody's", detail: "" }
  ])(line)

/** Takes a chunk and ends its lines. */
const finishNext = Effect.fnUntraced(function* (end: typeof failed = failed) {
  const chunk = yield* taken()
  yield* finish(chunk, chunk.lines.map(end))
})

/** Stores these lines of a batch of one chunk, and ends them. */
const runLines = Effect.fnUntraced(function* (
  batch: Begun,
  lines: Parameters<typeof append>[1],
  end?: typeof failed
) {
  yield* append(batch, lines)
  yield* start(batch, lines.length)
  yield* finishNext(end)
})

const finishAll = (batch: Begun) =>
  Effect.gen(function* () {
    yield* start(batch, texts.length)
    // The second line of a number waits for the first.
    for (let round = 0; round < 2; round++) yield* finishNext()
  }).pipe(Effect.scoped)

const erasedText = (line: number) => ({
  line,
  external_account_number: null,
  outcome: "FAILED",
  status: 400,
  erased: true,
  error: { detail: "", code: "account_failed_validation" }
})

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "erased lines",
  (it) => {
    it.effect("erases the lines that name it and their results, and keeps their places", () =>
      Effect.gen(function* () {
        const batches = yield* Batches
        const { batch, key } = yield* staged
        yield* finishAll(batch)
        const before = yield* found(batch)
        expect(yield* erase(key)).toMatchObject({ _tag: "Erased", lines: 3 })
        const results = (yield* textsOf(batch)).map((text) => JSON.parse(text) as object)
        expect(results).toMatchObject([
          { line: 1, external_account_number: "one" },
          erasedText(2),
          { line: 3, external_account_number: "two" },
          erasedText(4),
          erasedText(5)
        ])
        expect(JSON.stringify(results[1])).not.toContain("A-00000001")
        expect(yield* found(batch)).toEqual(before)
        const problems = yield* batches.problems({ id: batch.id, limit: 10 })
        expect(problems.groups).toEqual([
          {
            code: "max_length",
            attr: "notes.*.body",
            lines: 5,
            examples: [
              { line: 1, externalAccountNumber: "one", detail: "zq 1" },
              { line: 2, externalAccountNumber: null, detail: null },
              { line: 3, externalAccountNumber: "two", detail: "zq 3" },
              { line: 4, externalAccountNumber: null, detail: null },
              { line: 5, externalAccountNumber: null, detail: null }
            ]
          },
          expect.objectContaining({ code: "unknown_field", attr: "everybody's", lines: 4 }),
          {
            code: "unknown_field",
            attr: "non_field_errors",
            lines: 1,
            examples: [{ line: 2, externalAccountNumber: null, detail: null }]
          }
        ])
        expect(JSON.stringify(problems.sets)).not.toContain("zqOwn")
        expect(yield* erase(key)).toMatchObject({ isRepeated: true, lines: 0 })
      })
    )

    it.effect("erases names in paths that only its lines have, however many they are", () =>
      Effect.gen(function* () {
        const { problems } = yield* Batches
        const of = yield* freshSupplier
        const key = of.keyOf(number)
        yield* stage(of, [key.external_account_number])
        const batch = yield* begun({ of })
        const lines = Array.from({ length: 7 }, () => lineOf(null, malformed))
        const all = { code: "invalid", attr: "metadata.*.value.all", detail: "" } as const
        const own = [
          { code: "invalid", attr: "metadata.*.value.zqOwn", detail: "" },
          { code: "unknown_field", attr: "customers.*.zqOwn", detail: "" },
          { code: "blank", attr: "customers.*.given_name", detail: "" }
        ] as const
        yield* runLines(batch, [...lines, lineOf("other")], (line) =>
          endWith(line.line < 8 ? [all, ...own] : [all])(line)
        )
        yield* erase(key)
        const { groups, sets } = yield* problems({ id: batch.id, limit: 10 })
        expect(groups.map(({ attr, code, lines: count }) => [code, attr, count])).toEqual([
          ["invalid", "metadata.*.value.all", 8],
          ["blank", "customers.*.given_name", 7],
          ["invalid", "non_field_errors", 7],
          ["unknown_field", "non_field_errors", 7]
        ])
        expect(JSON.stringify(sets)).not.toContain("zqOwn")
      }).pipe(Effect.scoped)
    )

    it.effect("erases names that only erased customers have, with the last of them", () =>
      Effect.gen(function* () {
        const { problems } = yield* Batches
        const of = yield* freshSupplier
        yield* stage(of, ["first", "second"])
        const batch = yield* begun({ of })
        const all = { code: "unknown_field", attr: "everybody's", detail: "" } as const
        const shared = { code: "unknown_field", attr: "customers.*.zqFamily", detail: "" } as const
        yield* runLines(batch, linesOf("first", "second", "x"), (line) =>
          endWith(line.line < 3 ? [all, shared] : [all])(line)
        )
        const attrs = Effect.map(problems({ id: batch.id, limit: 10 }), ({ groups, sets }) => ({
          attrs: groups.map(({ attr, lines }) => [attr, lines]),
          inSets: JSON.stringify(sets).includes("zqFamily")
        }))
        yield* erase(of.keyOf("first"))
        expect(yield* attrs).toEqual({
          attrs: [
            ["everybody's", 3],
            ["customers.*.zqFamily", 2]
          ],
          inSets: true
        })
        yield* erase(of.keyOf("second"))
        expect(yield* attrs).toEqual({
          attrs: [
            ["everybody's", 3],
            ["non_field_errors", 2]
          ],
          inSets: false
        })
      }).pipe(Effect.scoped)
    )

    it.effect("leaves erased lines out of a retry", () =>
      Effect.gen(function* () {
        const { batch, key, of } = yield* staged
        yield* finishAll(batch)
        yield* erase(key)
        const retry = yield* createFor(of, { retryOf: batch.id })
        expect(retry).toMatchObject({ leftOut: 3 })
        expect(createdIn(retry).counts.received).toBe(2)
      })
    )

    it.effect("is refused while a line that names it has not ended, and changes nothing", () =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const { batch, key } = yield* staged
        const inBatch = { _tag: "InBatch", batch: batch.id }
        const before = yield* imports.find(key)
        expect(yield* erase(key), "open").toEqual(inBatch)
        yield* start(batch, texts.length)
        expect(yield* erase(key), "queued").toEqual(inBatch)
        const chunk = yield* taken()
        expect(yield* erase(key), "in hand").toEqual(inBatch)
        yield* finish(chunk, chunk.lines.map(failed))
        expect(yield* erase(key), "one of two").toEqual(inBatch)
        expect(yield* imports.find(key)).toEqual(before)
        yield* finishNext()
        expect(yield* erase(key)).toMatchObject({ _tag: "Erased" })
      }).pipe(Effect.scoped)
    )

    it.effect("erases data that was sent about it since, when it is erased again", () =>
      Effect.gen(function* () {
        const of = yield* freshSupplier
        const key = { import_supplier: of.supplier.code, external_account_number: number }
        yield* stage(of, [key.external_account_number])
        yield* erase(key)
        const batch = yield* begun({ of })
        yield* append(
          batch,
          texts.map((each) => lineOf(each, each ?? malformed))
        )
        yield* finishAll(batch)
        expect(yield* erase(key)).toMatchObject({ isRepeated: true, lines: 3 })
        expect((yield* textsOf(batch)).join()).not.toContain(JSON.stringify(number))
      })
    )

    it.effect(
      "finds the number however it is written, in batches and retries of every supplier",
      () =>
        Effect.gen(function* () {
          const of = yield* freshSupplier
          const key = of.keyOf("AL-871540012")
          yield* stage(of, [key.external_account_number])
          const supplier = supplierOf(of.caller.organisation)
          yield* (yield* Configuration).createSupplier(supplier)
          const number = '"external_account_number"'
          const naming = [
            `{${number}: " AL-871540012\u00a0"}`,
            String.raw`{${number}: "\u0041L-871540012\t", broken`,
            String.raw`"{\"external_account_number\":\"AL-871540012\"}"`,
            `{${number}: "AL-871540012", ${number}: "AL-1"}`,
            String.raw`{"external_account_n\u0075mber": "AL-871540012", ${number}: "AL-1"}`,
            `{${number}: "AL-871540012", "payload": {${number}: "AL-1"}}`,
            `{'external_account_number': 'AL-871540012'}`,
            "AL-871540012;Erika"
          ]
          const others = [
            `{${number}: " AL-8715400123"}`,
            `{${number}: "AL-1", "payload": {${number}: "AL-1"}}`
          ]
          const batch = yield* begun({ of: { ...of, supplier } })
          const lines = [...naming, ...others].map((text) => {
            const line = endOfSteps(receiveLineInSteps(encoder.encode(text)))
            return lineOf(line.externalAccountNumber, text)
          })
          yield* runLines(batch, lines)
          const retry = yield* begun({ of: { ...of, supplier }, retryOf: batch.id })
          yield* start(retry, lines.length)
          yield* finishNext()
          expect(yield* erase(key)).toMatchObject({ _tag: "Erased", lines: 2 * naming.length })
          for (const each of [batch, retry]) {
            const results = (yield* textsOf(each)).map((text) => JSON.parse(text) as object)
            expect(results.map((result) => "erased" in result)).toEqual([
              ...naming.map(() => true),
              ...others.map(() => false)
            ])
          }
        }).pipe(Effect.scoped)
    )

    it.effect("erases an unreadable line that has the number without quotes", () =>
      Effect.gen(function* () {
        const of = yield* freshSupplier
        const key = of.keyOf("871540012")
        yield* stage(of, [key.external_account_number])
        const batch = yield* begun({ of })
        const named = (name: string, value: string) => lineOf(null, `{"a": 1, "${name}": ${value}}`)
        const lines = [
          named("external_account_number", "871540012"),
          named("external_account_number", "8715400123"),
          named("balance", "871540012")
        ]
        yield* runLines(batch, lines)
        expect(yield* erase(key)).toMatchObject({ _tag: "Erased", lines: 1 })
        const results = (yield* textsOf(batch)).map((text) => JSON.parse(text) as object)
        expect(results.map((result) => "erased" in result)).toEqual([true, false, false])
      }).pipe(Effect.scoped)
    )
  }
)
