/**
 * The answer to a request under an idempotency key: a new one, the kept one, or a refusal.
 * Source: docs/contract/http.md#idempotency-keys.
 */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { Configuration } from "../src/suppliers/Configuration.ts"
import type { ResponseRecorder, KeyedRequest } from "../src/idempotency/IdempotencyKey.ts"
import { freshFingerprint, freshKeyed, inOneStep } from "../testing/keyedRequests.ts"
import { audited, beginImported, call, onAccount, postImport, world } from "./postImportPrograms.ts"
import {
  begin,
  demo,
  idempotentWrites,
  processBody,
  programs,
  stageBody,
  supplierCode
} from "./importPrograms.ts"

const textOf = (answer: unknown) => JSON.stringify(answer)

/** Runs the write under its key; returns its answer as text. */
const under = Effect.fnUntraced(function* <E>(
  request: KeyedRequest,
  write: (recorder: ResponseRecorder<unknown>) => Effect.Effect<unknown, E>
) {
  const { run } = yield* idempotentWrites()
  const written = yield* run(request, inOneStep(textOf), write)
  return written._tag === "Fresh" ? `fresh ${textOf(written.answer)}` : `replayed ${written.text}`
})

/** A write that counts its runs and stores nothing. */
const counted = () => {
  let count = 0
  return { write: () => Effect.sync(() => ++count), count: () => count }
}

describe("an idempotency key", () => {
  it.effect("replays its response for 24 hours, and then the write runs again", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const program = yield* postImport()
      const request = freshKeyed(demo.organisation)
      const send = under(request, (recorder) => call(program, "transactions", {}, demo, recorder))
      const first = yield* send
      expect(first).toContain("TRANSACTION_ADDED_TO_ACCOUNT")
      const replayed = first.replace("fresh", "replayed")
      expect(yield* send).toBe(replayed)
      yield* TestClock.adjust("86399 seconds")
      expect(yield* send).toBe(replayed)
      yield* TestClock.adjust("1 second")
      expect(yield* send).toContain("TRANSACTION_ALREADY_EXISTS")
    }).pipe(Effect.provide(world))
  )

  it.effect("is refused to a different request while it is reserved or its response is kept", () =>
    Effect.gen(function* () {
      yield* begin()
      const program = yield* programs()
      const request = freshKeyed(demo.organisation)
      const other = { ...request, fingerprint: freshFingerprint() }
      const none = counted()
      const { run } = yield* idempotentWrites()
      const refusalOf = (each: KeyedRequest) =>
        Effect.flip(run(each, inOneStep(textOf), none.write))
      const reused = { code: "idempotency_key_reused" }
      const inUse = { code: "idempotency_key_in_use", retryAfterSeconds: 1 }
      const first = yield* under(request, (recorder) =>
        Effect.gen(function* () {
          expect(yield* refusalOf(other)).toMatchObject(reused)
          expect(yield* refusalOf(request)).toMatchObject(inUse)
          return yield* program.stage(demo, stageBody(), recorder)
        })
      )
      expect(first).toContain(`fresh {"first":true`)
      expect(yield* refusalOf(other)).toMatchObject(reused)
      expect(none.count()).toBe(0)
    }).pipe(Effect.provide(world))
  )
})

describe("a write without effect", () => {
  it.effect("keeps no response for a refusal, which is validated again on each retry", () =>
    Effect.gen(function* () {
      yield* begin({ status: "Paused" })
      const program = yield* programs()
      const request = freshKeyed(demo.organisation)
      const send = under(request, (recorder) => program.stage(demo, stageBody(), recorder))
      const code = "import_supplier_migration_not_ongoing"
      expect(yield* Effect.flip(send)).toMatchObject({ code })
      expect(yield* Effect.flip(send)).toMatchObject({ code })
      const configuration = yield* Configuration
      yield* configuration.changeSupplierStatus(supplierCode, () => Result.succeed("Ongoing"))
      expect(yield* send).toContain(`fresh {"first":true`)
    }).pipe(Effect.provide(world))
  )

  it.effect("keeps no response for a dry run, which runs each time and leaves the key free", () =>
    Effect.gen(function* () {
      yield* begin()
      const program = yield* programs()
      yield* program.stage(demo, stageBody())
      const request = freshKeyed(demo.organisation)
      const body = processBody({ dry_run: true })
      const dryRun = under(request, (recorder) => program.process(demo, body, recorder))
      for (const send of [dryRun, dryRun]) {
        expect(yield* Effect.flip(send)).toMatchObject({ code: "dry_run_successful" })
      }
      const other = { ...request, fingerprint: freshFingerprint() }
      const create = under(other, (recorder) => program.process(demo, processBody(), recorder))
      expect(yield* create).toContain("fresh")
      expect(yield* create).toContain("replayed")
    }).pipe(Effect.provide(world))
  )

  it.effect("releases its key when the request is interrupted", () =>
    Effect.gen(function* () {
      const request = freshKeyed()
      const begun = yield* Deferred.make<void>()
      const hanging = under(request, () =>
        Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      )
      const fiber = yield* Effect.forkChild(hanging)
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      expect(yield* under(request, counted().write)).toBe("fresh 1")
    }).pipe(Effect.provide(world))
  )
})

describe("a write that takes longer than the lease", () => {
  it.effect("stores nothing once another request has taken over its key", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const program = yield* postImport()
      const request = freshKeyed(demo.organisation)
      const [begun, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const add = (recorder: ResponseRecorder<unknown>) =>
        call(program, "transactions", {}, demo, recorder)
      const slow = yield* Effect.forkChild(
        under(request, (recorder) =>
          Deferred.succeed(begun, undefined).pipe(
            Effect.andThen(Deferred.await(goOn)),
            Effect.andThen(add(recorder))
          )
        )
      )
      yield* Deferred.await(begun)
      yield* TestClock.adjust("60 seconds")
      const next = yield* under(request, add)
      const account = yield* onAccount
      yield* Deferred.succeed(goOn, undefined)
      const refusal = yield* Effect.flip(Fiber.join(slow))
      expect(refusal).toMatchObject({ code: "idempotency_key_in_use" })
      expect(yield* onAccount).toEqual(account)
      expect(yield* under(request, add)).toBe(next.replace("fresh", "replayed"))
      expect(yield* audited).toEqual([
        "create_transactions created",
        "create_transactions idempotency_key_in_use"
      ])
    }).pipe(Effect.provide(world))
  )
})
