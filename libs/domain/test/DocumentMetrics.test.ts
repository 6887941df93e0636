/** The metrics and log entries of the document store, also of one that never answers. */
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Metric } from "effect"
import { TestClock } from "effect/testing"
import { Documents, DocumentsUnavailable } from "../src/documents/Documents.ts"
import type { DocumentPath } from "../src/schema/DocumentPath.ts"
import { DocumentLookup, layer } from "../src/documents/DocumentLookup.ts"
import { supplierOf } from "../testing/freshNames.ts"
import { demo } from "./importPrograms.ts"

type Answer = ReturnType<Documents["Service"]["find"]>

const found: Answer = Effect.succeedSome({ size: 1, etag: null, checksum: null })
const away: Answer = Effect.fail(new DocumentsUnavailable({ cause: new Error("zqpersonal") }))

/** Looks up one document after another, each time with the next answer, a minute apart. */
const observed = Effect.fnUntraced(function* (...answers: ReadonlyArray<Answer>) {
  const entries: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    entries.push(`${logLevel} ${String(message)}`)
  })
  let asked = 0
  const store = Documents.of({
    find: () => Effect.suspend(() => answers[asked++] ?? found),
    readLink: () => Effect.succeedNone,
    uploadLink: () => Effect.succeedNone
  })
  const outcomes = yield* Effect.gen(function* () {
    const built = layer.pipe(Layer.provide(Layer.succeed(Documents, store)))
    const { lookUp } = yield* Effect.provide(DocumentLookup, built, { local: true })
    for (const _ of answers) {
      const look = Effect.exit(
        lookUp(supplierOf(demo.organisation), new Set(["a.pdf" as DocumentPath]))
      )
      const fiber = yield* Effect.forkChild(look)
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
    }
    return (yield* Metric.snapshot).flatMap((metric) =>
      metric.id === "data_import_document_lookup_duration_seconds" && metric.type === "Histogram"
        ? [`${metric.attributes?.["outcome"]} ${metric.state.count}`]
        : []
    )
  }).pipe(
    Effect.provideService(Logger.CurrentLoggers, new Set([logger])),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )
  return { entries, outcomes: outcomes.sort() }
})

it.effect("counts look-ups by outcome, and logs when the store fails or recovers", () =>
  Effect.gen(function* () {
    const { entries, outcomes } = yield* observed(found, away, away, found, Effect.succeedNone)
    expect(outcomes).toEqual(["found 2", "missing 1", "unavailable 2"])
    expect(entries).toEqual([
      "Warn the document store does not answer",
      "Info the document store answers again"
    ])
  })
)

it.effect("counts a look-up that was given up as unavailable", () =>
  Effect.gen(function* () {
    const { entries, outcomes } = yield* observed(Effect.never, Effect.never)
    expect(outcomes).toEqual(["unavailable 2"])
    expect(entries).toEqual(["Warn the document store does not answer"])
  })
)
