/**
 * Empties the caller's test organisation. It deletes in slices, so that no transaction is long.
 * After an interruption, a repeated request continues where the last one ended.
 * Source: docs/contract/sandbox.md#emptying.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import type { Caller } from "../suppliers/Organisation.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { type Deleted, Sandbox } from "./Sandbox.ts"
import {
  type Failure,
  keyInUse,
  SandboxInUse,
  TestKeyRequired,
  ServiceUnavailable,
  unavailable
} from "../requests/Failure.ts"
import type { ResponseRecorder } from "../idempotency/IdempotencyKey.ts"
import { recordRefusals } from "../audit/Audit.ts"
import { traced } from "../support/Traced.ts"

export class SandboxReset extends Context.Service<
  SandboxReset,
  {
    /** Deletes everything; returns how much this request has deleted. */
    readonly reset: (
      caller: Caller,
      recorder?: ResponseRecorder<Deleted> | null
    ) => Effect.Effect<Deleted, Failure>
  }
>()("@data-import/domain/SandboxReset") {}

/** About how many imports are deleted in one transaction. */
const sliceSize = 200

/** Below the gateway's time-out of 30 seconds, so that the client learns that more is left. */
const longestReset = Duration.seconds(20)

/** Retry-After, in seconds, while attempts still hold imports. */
const retryAfterSeconds = 5

const sumOf = (one: Deleted, other: Deleted): Deleted => ({
  imports: one.imports + other.imports,
  accounts: one.accounts + other.accounts,
  batches: one.batches + other.batches,
  events: one.events + other.events
})

const deleteAll = Effect.fnUntraced(function* (sandbox: Sandbox["Service"], caller: Caller) {
  const until = DateTime.addDuration(yield* DateTime.now, longestReset)
  let deleted: Deleted = { imports: 0, accounts: 0, batches: 0, events: 0 }
  while (true) {
    const at = yield* DateTime.now
    const slice = yield* sandbox.deleteSlice({ caller, at, limit: sliceSize })
    if (slice._tag === "Live") return yield* new TestKeyRequired()
    if (slice._tag === "BatchesUnfinished") return yield* new SandboxInUse()
    deleted = sumOf(deleted, slice.deleted)
    if (slice.isEmpty) return deleted
    if (!slice.hasDeleted) return yield* new ServiceUnavailable({ retryAfterSeconds })
    if (DateTime.isGreaterThanOrEqualTo(at, until)) return yield* unavailable
  }
})

const make = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const audit = { auditLog: yield* AuditLog, configuration: yield* Configuration }

  const reset = Effect.fnUntraced(function* (
    caller: Caller,
    recorder: ResponseRecorder<Deleted> | null
  ) {
    const deleted = yield* deleteAll(sandbox, caller)
    yield* sandbox.recordEmptied({ caller, at: yield* DateTime.now, deleted, recorder })
    return deleted
  })

  return SandboxReset.of({
    reset: traced("SandboxReset.reset")((caller, recorder = null) =>
      reset(caller, recorder).pipe(
        Effect.catchTag("ReservationLost", () => keyInUse),
        recordRefusals(audit, "empty_sandbox", caller, null),
        Effect.catchTag("StorageUnavailable", () => unavailable)
      )
    )
  })
})

/** Needs the storage ports. */
export const layer = Layer.effect(SandboxReset, make)
