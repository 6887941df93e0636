/** How the document store is asked: each path once, many at a time, and never too many. */
import { expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Documents } from "../ports/Documents.ts"
import { call, postImport, statement, storedPath, world } from "./additions.ts"
import { begin, demo, processBody, programs, stageBody } from "./migration.ts"

/** A store that has every document, and keeps count of who asks. */
const countingStore = () => {
  const counted = { lookups: 0, asking: 0, mostAtOnce: 0 }
  const store = Documents.of({
    find: () =>
      Effect.gen(function* () {
        counted.lookups++
        counted.mostAtOnce = Math.max(counted.mostAtOnce, ++counted.asking)
        yield* Effect.repeat(Effect.yieldNow, { times: 20 })
        counted.asking--
        return Option.some({ size: 1_000, etag: null, checksum: null })
      }),
    readLink: () => Effect.succeedNone
  })
  return { counted, store }
}

const paths = [storedPath, ...Array.from({ length: 99 }, (_, index) => `documents/${index}.pdf`)]

const statements = paths.map((path, index) => statement(`s${index}`, { statement_path: path }))

/** The same documents, each named twice. */
const notes = [
  { body: "all", document_paths: paths.map((path) => ({ document_path: path })) },
  { body: "again", document_paths: paths.map((path) => ({ document_path: `/${path}` })) }
]

const account = stageBody({ statements, notes })

const requests = {
  validate: Effect.flatMap(programs(), (program) => program.validate(demo, account)),
  stage: Effect.flatMap(programs(), (program) => program.stage(demo, account)),
  process: Effect.flatMap(programs(), (program) => program.process(demo, processBody())),
  notes: Effect.flatMap(postImport(), (program) => call(program, "notes", { notes })),
  statements: Effect.flatMap(postImport(), (program) => call(program, "statements", { statements }))
}

it.effect("a hundred documents are looked for once each, sixteen at a time", () =>
  Effect.gen(function* () {
    yield* begin()
    for (const [name, request] of Object.entries(requests)) {
      const { counted, store } = countingStore()
      yield* Effect.provideService(request, Documents, store)
      expect(counted, name).toEqual({ lookups: 100, asking: 0, mostAtOnce: 16 })
    }
  }).pipe(Effect.provide(world))
)
