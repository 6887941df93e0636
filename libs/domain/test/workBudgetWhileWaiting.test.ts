/**
 * A request with a large body releases its computing permits while it waits for the document store
 * or a payment vendor.
 */
import { expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { Documents } from "../src/documents/Documents.ts"
import { PaymentVendor } from "../src/payments/PaymentVendor.ts"
import { makeWorkBudget } from "../src/requests/WorkBudget.ts"
import { beginImported, call, postImport, storedPath, world } from "./postImportPrograms.ts"
import { begin, demo, processBody, programs, stageBody } from "./importPrograms.ts"

const largest = 10 * 1024 * 1024

/** Ports that never answer, and how many requests wait for them. */
const makeHanging = () => {
  const waiters = { count: 0 }
  const hang = Effect.acquireUseRelease(
    Effect.sync(() => void waiters.count++),
    () => Effect.never,
    () => Effect.sync(() => void waiters.count--)
  )
  const store = Documents.of({ find: () => hang, readLink: () => hang, uploadLink: () => hang })
  return { waiters, store, vendor: PaymentVendor.of({ verify: () => hang }) }
}

const notes = [{ body: "document", document_paths: [{ document_path: storedPath }] }]

const staged = Effect.gen(function* () {
  yield* begin()
  const program = yield* programs()
  yield* program.stage(demo, stageBody())
})

/** Requests that wait for a system other than the database, with their setup. */
const requests = {
  validate: {
    before: begin(),
    request: Effect.flatMap(programs(), (program) => program.validate(demo, stageBody({ notes })))
  },
  stage: {
    before: begin(),
    request: Effect.flatMap(programs(), (program) => program.stage(demo, stageBody({ notes })))
  },
  notes: {
    before: beginImported(),
    request: Effect.flatMap(postImport(), (program) => call(program, "notes", { notes }))
  },
  "the instruction": {
    before: beginImported(),
    request: Effect.flatMap(postImport(), (program) => call(program, "instruction"))
  },
  process: {
    before: staged,
    request: Effect.flatMap(programs(), (program) => program.process(demo, processBody()))
  }
}

for (const [name, { before, request }] of Object.entries(requests)) {
  it.effect(`${name} releases its computing permits to others while it waits`, () =>
    Effect.gen(function* () {
      yield* before
      const { store, vendor, waiters } = makeHanging()
      const budget = makeWorkBudget()
      // The computing quota of an organisation is one payload of this size.
      const within = budget(demo.organisation, largest)
      const running = yield* request.pipe(
        Effect.provideService(Documents, store),
        Effect.provideService(PaymentVendor, vendor),
        within,
        Effect.forkChild
      )
      while (waiters.count === 0) yield* Effect.yieldNow
      const other = yield* Effect.forkChild(within(Effect.succeed("computed")))
      yield* Effect.repeat(Effect.yieldNow, { times: 50 })
      expect(other.pollUnsafe()).toEqual(Exit.succeed("computed"))
      yield* Fiber.interrupt(running)
      expect(waiters.count).toBe(0)
    }).pipe(Effect.provide(world))
  )
}
