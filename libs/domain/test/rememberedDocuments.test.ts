/**
 * Found documents are cached for a minute; nothing else is.
 * Source: docs/contract/values.md#remembered-documents.
 */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, type Option } from "effect"
import fc from "fast-check"
import { TestClock } from "effect/testing"
import type { StoredDocument } from "../src/accounts/StoredDocument.ts"
import { Documents, DocumentsUnavailable } from "../src/documents/Documents.ts"
import type { DocumentPath } from "../src/schema/DocumentPath.ts"
import { DocumentLookup, layer } from "../src/documents/DocumentLookup.ts"
import { supplierOf } from "../testing/freshNames.ts"
import { demo } from "./importPrograms.ts"

type Find = Documents["Service"]["find"]
type Answer = Effect.Effect<Option.Option<StoredDocument>, DocumentsUnavailable>

const documentOf = (size: number): StoredDocument => ({ size, etag: `"${size}"`, checksum: null })

const supplier = { ...supplierOf(demo.organisation), documentRoot: "one" }

/** A new cache on a store, and the lookups that reached the store. */
const onStore = Effect.fnUntraced(function* (answer: (at: string) => Answer) {
  const asked: Array<string> = []
  const find: Find = (root, path) =>
    Effect.suspend(() => {
      asked.push(`${root}/${path}`)
      return answer(`${root}/${path}`)
    })
  const store = Documents.of({
    find,
    readLink: () => Effect.succeedNone,
    uploadLink: () => Effect.succeedNone
  })
  const built = layer.pipe(Layer.provide(Layer.succeed(Documents, store)))
  const { lookUp } = yield* Effect.provide(DocumentLookup, built, { local: true })
  const look = (paths: ReadonlyArray<string>, documentRoot = "one") =>
    Effect.map(
      lookUp({ ...supplier, documentRoot }, new Set(paths as ReadonlyArray<DocumentPath>)),
      ({ documents, missing }) => ({
        sizes: Object.fromEntries([...documents].map(([path, { size }]) => [path, size])),
        missing: [...missing]
      })
    )
  return { asked, look }
})

const found = (size: number): Answer => Effect.succeedSome(documentOf(size))
const absent: Answer = Effect.succeedNone
const away: Answer = Effect.fail(new DocumentsUnavailable({}))

describe("a found document", () => {
  it.effect("is identified by its root and its path", () =>
    Effect.gen(function* () {
      const { asked, look } = yield* onStore((at) => (at === "one/a/b.pdf" ? found(1) : absent))
      expect(yield* look(["a/b.pdf"], "one")).toEqual({ sizes: { "a/b.pdf": 1 }, missing: [] })
      expect(yield* look(["b.pdf"], "one/a")).toEqual({
        sizes: { "b.pdf": 1 },
        missing: []
      })
      expect(yield* look(["a/b.pdf"], "two")).toEqual({ sizes: {}, missing: ["a/b.pdf"] })
      expect(asked).toEqual(["one/a/b.pdf", "one/a/b.pdf", "two/a/b.pdf"])
    })
  )

  it.effect("is evicted after 10,000 others were looked up", () =>
    Effect.gen(function* () {
      const { asked, look } = yield* onStore(() => found(1))
      yield* look(Array.from({ length: 10_000 }, (_, index) => `${index}.pdf`))
      yield* look(["0.pdf"])
      yield* look(["one more.pdf"])
      expect(asked).toHaveLength(10_001)
      yield* look(["0.pdf", "1.pdf"])
      expect(asked.slice(10_001)).toEqual(["one/1.pdf"])
    })
  )
})

describe("requests at the same time", () => {
  /** A store whose first answer waits. */
  const held = Effect.fnUntraced(function* (first: Answer, later: Answer) {
    const latch = yield* Deferred.make<void>()
    let calls = 0
    const answering = yield* onStore(() =>
      Effect.suspend(() => (calls++ === 0 ? Effect.andThen(Deferred.await(latch), first) : later))
    )
    return { ...answering, open: Deferred.succeed(latch, undefined) }
  })
  const settled = Effect.repeat(Effect.yieldNow, { times: 50 })

  it.effect("share the lookup of a document that is found", () =>
    Effect.gen(function* () {
      const { asked, look, open } = yield* held(found(1), found(2))
      const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(look(["a.pdf"])))
      yield* settled
      yield* open
      const expected = { sizes: { "a.pdf": 1 }, missing: [] }
      expect(yield* Fiber.joinAll(fibers)).toEqual([expected, expected, expected])
      expect(asked).toHaveLength(1)
    })
  )

  it.effect.each([
    ["an absence", absent],
    ["a failure", away]
  ] as const)("do not share %s, which an upload may have ended meanwhile", ([, first]) =>
    Effect.gen(function* () {
      const { asked, look, open } = yield* held(first, found(1))
      const early = yield* Effect.forkChild(Effect.exit(look(["a.pdf"])))
      yield* settled
      const late = yield* Effect.forkChild(look(["a.pdf"]))
      yield* settled
      yield* open
      expect(yield* Fiber.join(late)).toEqual({ sizes: { "a.pdf": 1 }, missing: [] })
      expect(yield* Fiber.join(early)).not.toEqual(
        Exit.succeed({ sizes: { "a.pdf": 1 }, missing: [] })
      )
      expect(asked).toHaveLength(2)
    })
  )

  it.effect("do not end another request's lookup when they are interrupted", () =>
    Effect.gen(function* () {
      const { asked, look, open } = yield* held(found(1), found(2))
      const early = yield* Effect.forkChild(look(["a.pdf"]))
      yield* settled
      const late = yield* Effect.forkChild(look(["a.pdf"]))
      yield* settled
      yield* Fiber.interrupt(early)
      yield* open
      expect(yield* Fiber.join(late)).toEqual({ sizes: { "a.pdf": 1 }, missing: [] })
      expect(asked).toHaveLength(1)
    })
  )

  it.effect("leave no trace of a lookup that all of them gave up", () =>
    Effect.gen(function* () {
      const { asked, look } = yield* held(found(1), found(2))
      const first = yield* Effect.forkChild(look(["a.pdf"]))
      yield* settled
      yield* Fiber.interrupt(first)
      expect(Exit.isFailure(yield* Fiber.await(first))).toBe(true)
      expect(yield* look(["a.pdf"])).toEqual({ sizes: { "a.pdf": 2 }, missing: [] })
      expect(asked).toHaveLength(2)
    })
  )
})

const paths = ["a", "b", "c"] as const

/** Events: a file is added, deleted or replaced, time passes, the store fails, a lookup runs. */
const event = fc.oneof(
  fc.record({ put: fc.constantFrom(...paths), size: fc.nat() }),
  fc.record({ remove: fc.constantFrom(...paths) }),
  fc.record({ pass: fc.constantFrom(1, 20_000, 59_999, 60_000) }),
  fc.record({ isAway: fc.boolean() }),
  fc.record({ ask: fc.uniqueArray(fc.constantFrom(...paths)) })
)

type Event = typeof event extends fc.Arbitrary<infer A> ? A : never

/** Runs the events on a cache and on a model of it, and compares each answer. */
const compared = Effect.fnUntraced(function* (events: ReadonlyArray<Event>) {
  const files = new Map<string, number>()
  const lastFound = new Map<string, { readonly size: number; readonly at: number }>()
  let now = 0
  let isAway = false
  const { asked, look } = yield* onStore((at) => {
    const there = files.get(at)
    if (isAway) return away
    return there === undefined ? absent : found(there)
  })

  /** The expected answer (null for a failure, which ends the lookups) and lookups in the store. */
  const modelled = (wanted: ReadonlyArray<string>) => {
    const isFresh = (path: string) => now - (lastFound.get(path)?.at ?? -Infinity) < 60_000
    const calls = wanted.filter((path) => !isFresh(path)).map((path) => `one/${path}`)
    if (isAway && calls.length > 0) return { calls: calls.slice(0, 1), answer: null }
    const sizes: Record<string, number> = {}
    const missing: Array<string> = []
    for (const path of wanted) {
      const there = isFresh(path) ? lastFound.get(path)?.size : files.get(`one/${path}`)
      if (there === undefined) missing.push(path)
      else {
        sizes[path] = there
        if (!isFresh(path)) lastFound.set(path, { size: there, at: now })
      }
    }
    return { calls, answer: { sizes, missing } }
  }

  for (const next of events) {
    if ("put" in next) files.set(`one/${next.put}`, next.size)
    else if ("remove" in next) files.delete(`one/${next.remove}`)
    else if ("isAway" in next) isAway = next.isAway
    else if ("pass" in next) {
      now += next.pass
      yield* TestClock.adjust(next.pass)
    } else {
      asked.length = 0
      const expected = modelled(next.ask)
      const answer = yield* Effect.exit(look(next.ask))
      expect(Exit.isSuccess(answer) ? answer.value : null).toEqual(expected.answer)
      expect(asked).toEqual(expected.calls)
    }
  }
})

it("no sequence of events returns a stale absence, or a document older than a minute", () =>
  fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 60 }), (events) =>
      Effect.runPromise(Effect.provide(compared(events), TestClock.layer()))
    )
  ))
