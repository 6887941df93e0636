/**
 * Lookups in the document store: each path once, within the limits of a request and of an
 * organisation, skipped for hopeless requests, and no longer than a deadline.
 * Source: docs/contract/values.md#documents-of-one-request.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { Documents } from "../src/documents/Documents.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { SupplierCode } from "../src/suppliers/Supplier.ts"
import { supplierOf } from "../testing/freshNames.ts"
import { call, postImport, statement, storedPath, world } from "./postImportPrograms.ts"
import { begin, demo, errorsOf, processBody, programs, rival, stageBody } from "./importPrograms.ts"

/** A store that has every document except the missing ones, and counts lookups. */
const countingStore = (isMissing: (path: string) => boolean = () => false) => {
  const counted = { lookups: 0, asking: 0, mostAtOnce: 0, interrupted: 0 }
  const store = Documents.of({
    find: (_root, path) =>
      Effect.gen(function* () {
        counted.lookups++
        counted.mostAtOnce = Math.max(counted.mostAtOnce, ++counted.asking)
        yield* Effect.repeat(Effect.yieldNow, { times: 20 })
        counted.asking--
        return isMissing(path) ? Option.none() : Option.some(stored)
      }),
    readLink: () => Effect.succeedNone,
    uploadLink: () => Effect.succeedNone
  })
  return { counted, store }
}

const stored = { size: 1_000, etag: null, checksum: null }

/** A store that never answers. */
const hangingStore = () => {
  const counted = { asking: 0, interrupted: 0 }
  const store = Documents.of({
    find: () =>
      Effect.suspend(() => {
        counted.asking++
        return Effect.onInterrupt(Effect.never, () => Effect.sync(() => counted.interrupted++))
      }),
    readLink: () => Effect.succeedNone,
    uploadLink: () => Effect.succeedNone
  })
  return { counted, store }
}

const pathsUpTo = (count: number) => [
  storedPath,
  ...Array.from({ length: count - 1 }, (_, index) => `documents/${index}.pdf`)
]

const noteOn = (paths: ReadonlyArray<string>) => ({
  body: "documents",
  document_paths: paths.map((path) => ({ document_path: path }))
})

const statementsOn = (paths: ReadonlyArray<string>) =>
  paths.map((path, index) => statement(`s${index}`, { statement_path: path }))

const paths = pathsUpTo(100)
const statements = statementsOn(paths)

/** The same documents, each named twice. */
const notes = [noteOn(paths), noteOn(paths.map((path) => `/${path}`))]

const account = stageBody({ statements, notes })

const requests = {
  validate: Effect.flatMap(programs(), (program) => program.validate(demo, account)),
  stage: Effect.flatMap(programs(), (program) => program.stage(demo, account)),
  process: Effect.flatMap(programs(), (program) => program.process(demo, processBody())),
  notes: Effect.flatMap(postImport(), (program) => call(program, "notes", { notes })),
  statements: Effect.flatMap(postImport(), (program) => call(program, "statements", { statements }))
}

const validated = (store: Documents["Service"], body: unknown, caller = demo) =>
  programs().pipe(
    Effect.provideService(Documents, store),
    Effect.flatMap((program) => program.validate(caller, body))
  )

/** The errors of the payload, and the number of lookups in the store. */
const refused = Effect.fnUntraced(function* (
  values: Parameters<typeof stageBody>[0],
  isMissing?: (path: string) => boolean
) {
  const { counted, store } = countingStore(isMissing)
  const failure = yield* Effect.flip(validated(store, stageBody(values)))
  return { errors: errorsOf(failure), lookups: counted.lookups }
})

it.effect("a hundred documents are looked up once each, sixteen at a time", () =>
  Effect.gen(function* () {
    yield* begin()
    for (const [name, request] of Object.entries(requests)) {
      const { counted, store } = countingStore()
      yield* Effect.provideService(request, Documents, store)
      expect(counted, name).toMatchObject({ lookups: 100, asking: 0, mostAtOnce: 16 })
    }
  }).pipe(Effect.provide(world))
)

describe("the document lookup", () => {
  it.effect("reports missing documents with the other errors, in payload order", () =>
    Effect.gen(function* () {
      yield* begin()
      const values = {
        billing_email: "none",
        statements: [],
        "notes.0.document_paths": [{ document_path: "a.pdf" }, { document_path: "/b.pdf" }],
        "notes.1.body": " "
      }
      expect(yield* refused(values, (path) => path === "b.pdf")).toMatchObject({
        errors: [
          "billing_email invalid_email",
          "notes.0.document_paths.1.document_path path_does_not_exist_in_file_store",
          "notes.1.body blank"
        ]
      })
    }).pipe(Effect.provide(world))
  )

  it.effect("is skipped if 1,000 other errors were found", () =>
    Effect.gen(function* () {
      yield* begin()
      const customers = (count: number) => Array.from({ length: count }, () => ({}))
      const missing = { statements: statementsOn(["a.pdf", "b.pdf"]), notes: [] }
      const few = yield* refused({ ...missing, customers: customers(998) }, () => true)
      expect([few.errors.length, few.lookups]).toEqual([1_000, 2])
      const more = yield* refused({ ...missing, customers: customers(999) }, () => true)
      expect([more.errors.length, more.lookups]).toEqual([1_000, 2])
      const many = yield* refused({ ...missing, customers: customers(1_000) }, () => true)
      expect([many.errors.length, many.lookups]).toEqual([1_000, 0])
    }).pipe(Effect.provide(world))
  )

  it.effect(
    "is skipped for more than 1,000 documents, and the list over the limit is reported",
    () =>
      Effect.gen(function* () {
        yield* begin()
        const tooMany = (...lists: ReadonlyArray<string>) => ({
          errors: lists.map((list) => `${list} max_length`),
          lookups: 0
        })
        const most = pathsUpTo(1_000)
        const more = pathsUpTo(1_001)
        expect(yield* refused({ notes: [], statements: statementsOn(more) })).toEqual(
          tooMany("statements")
        )
        expect(yield* refused({ notes: [noteOn([]), noteOn(more)], statements: [] })).toEqual(
          tooMany("notes.1.document_paths")
        )
        const halves = [noteOn(most.slice(0, 500)), noteOn(most.slice(400))]
        expect(yield* refused({ notes: halves, statements: statementsOn(["other.pdf"]) })).toEqual(
          tooMany("statements")
        )
        const broken = { notes: [noteOn(more)], statements: [], billing_email: "none" }
        expect((yield* refused(broken)).errors).toEqual([
          "billing_email invalid_email",
          "notes.0.document_paths max_length"
        ])
        const slashed = most.map((path) => `/${path}`)
        const twice = stageBody({ notes: [noteOn(most)], statements: statementsOn(slashed) })
        const { counted, store } = countingStore()
        yield* validated(store, twice)
        expect(counted.lookups).toBe(1_000)
      }).pipe(Effect.provide(world))
  )
})

describe("a document store that does not answer", () => {
  it.effect("makes a request wait five seconds at most, for all its documents together", () =>
    Effect.gen(function* () {
      yield* begin()
      const { counted, store } = hangingStore()
      const running = yield* Effect.forkChild(Effect.flip(validated(store, account)))
      yield* TestClock.adjust("4999 millis")
      expect(running.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("1 millis")
      expect(yield* Fiber.join(running)).toMatchObject({ code: "service_unavailable" })
      expect(counted).toEqual({ asking: 16, interrupted: 16 })
    }).pipe(Effect.provide(world))
  )

  it.effect("gets no further lookups once the request is interrupted", () =>
    Effect.gen(function* () {
      yield* begin()
      const { counted, store } = hangingStore()
      const running = yield* Effect.forkChild(Effect.uninterruptible(validated(store, account)))
      while (counted.asking < 16) yield* Effect.yieldNow
      yield* Fiber.interrupt(running)
      expect(counted).toEqual({ asking: 16, interrupted: 16 })
    }).pipe(Effect.provide(world))
  )

  it.effect("holds at most 64 lookups of an organisation, and blocks no other organisation", () =>
    Effect.gen(function* () {
      yield* begin()
      const configuration = yield* Configuration
      const code = SupplierCode.make("RIVAL_CHECKED")
      yield* configuration.createSupplier({
        ...supplierOf(rival.organisation),
        code,
        documentRoot: code
      })
      const { counted, store } = hangingStore()
      const program = yield* Effect.provideService(programs(), Documents, store)
      const asked = (count: number) =>
        Effect.gen(function* () {
          while (counted.asking < count) yield* Effect.yieldNow
          yield* Effect.repeat(Effect.yieldNow, { times: 200 })
          expect(counted.asking).toBe(count)
        })
      const withOwnDocuments = (index: number) =>
        stageBody({ notes: [], statements: statementsOn(paths.map((path) => `${index}/${path}`)) })
      const running = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 10 }, (_, index) => program.validate(demo, withOwnDocuments(index))),
          { concurrency: "unbounded" }
        )
      )
      yield* asked(64)
      const ofRival = stageBody({ statements, notes, import_supplier: code })
      const other = yield* Effect.forkChild(program.validate(rival, ofRival))
      yield* asked(80)
      yield* Fiber.interrupt(running)
      yield* Fiber.interrupt(other)
      expect(counted.interrupted).toBe(80)
      const again = yield* Effect.forkChild(program.validate(demo, account))
      yield* asked(96)
      yield* Fiber.interrupt(again)
    }).pipe(Effect.provide(world))
  )
})
