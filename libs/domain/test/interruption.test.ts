/**
 * A process that is killed, or loses its storage, at every step it takes: it leaves a whole account
 * or nothing, the import is free again when its lease expires, and the next attempt leaves exactly
 * one account.
 * Source: docs/contract/import.md#attempts-and-leases.
 */
import { describe, expect, it } from "@effect/vitest"
import { Cause, DateTime, Effect, Exit, Option } from "effect"
import { TestClock } from "effect/testing"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import type { AccountImport } from "../src/imports/AccountImport.ts"
import type { Failure } from "../src/requests/Failure.ts"
import { stateAt, statusOf } from "../src/imports/ImportProcess.ts"
import {
  allFaults,
  type Call,
  type Fault,
  faultAtEvery,
  faultAtStep,
  type FaultPlan,
  noFaults
} from "../testing/faults.ts"
import { tracesOf } from "../testing/importStates.ts"
import { begin, demo, key, ports, processBody, programs, stageBody } from "./importPrograms.ts"

type Program = AccountImport["Service"]

/** A request, and how it ends without a fault. */
const requests: Readonly<
  Record<
    string,
    { readonly ask: (program: Program) => Effect.Effect<unknown, Failure>; readonly end: string }
  >
> = {
  stage: {
    ask: (program) => program.stage(demo, stageBody({ billing_name: "New" })),
    end: "Success"
  },
  process: { ask: (program) => program.process(demo, processBody()), end: "Success" },
  "dry run": {
    ask: (program) => program.process(demo, processBody({ dry_run: true })),
    end: "DryRunSuccessful"
  }
}

/** The request under the plan, on an import that is staged already. */
const underPlan = Effect.fnUntraced(function* (request: string, plan: FaultPlan) {
  yield* begin()
  const valid = yield* programs()
  yield* valid.stage(demo, stageBody({ billing_name: "Old" }))
  const program = yield* programs(plan)
  return yield* Effect.exit(requests[request]?.ask(program) ?? Effect.void)
})

const endOf = (exit: Exit.Exit<unknown, Failure>): string => {
  if (Exit.isSuccess(exit)) return "Success"
  const failure = Cause.findErrorOption(exit.cause)
  return Option.isSome(failure) ? failure.value._tag : "defect"
}

/** Expects that the stored data is consistent. */
const isWhole = Effect.gen(function* () {
  const { accounts } = yield* MemoryStore
  const { attempts, audit, events, process } = yield* tracesOf(key)
  const numbers = [...accounts.keys()]
  const { account = null, lease = null } = process ?? {}
  expect(numbers).toEqual(account === null ? [] : [account.number])
  const count = (list: ReadonlyArray<unknown>, like: object) =>
    list.filter((each) =>
      Object.entries(like).every(([name, value]) => (each as never)[name] === value)
    ).length
  expect(count(attempts, { outcome: "created" })).toBe(numbers.length)
  expect(count(audit, { action: "process", outcome: "created" })).toBe(numbers.length)
  const complete = "data_import.import_process.complete-v1"
  expect(count(events, { name: complete })).toBe(numbers.length)
  expect(count(attempts, { endedAt: null }), "open attempts").toBe(lease === null ? 0 : 1)
  const staged = audit.filter(({ action }) => action === "stage")
  expect(count(events, { name: "data_import.import_process.staged-v1" })).toBe(
    staged.filter(({ outcome }) => outcome === "created" || outcome === "replaced").length
  )
  return numbers
})

const status = Effect.gen(function* () {
  const processes = yield* ImportProcesses
  return statusOf(stateAt(Option.getOrThrow(yield* processes.find(key)), yield* DateTime.now))
})

/** Whether the lease may stay: the process died, the claim's result was lost, or release failed. */
const mayStayHeld = ({ operation }: Call, { kind, when }: Fault): boolean =>
  kind === "crash" || (operation === "claim" && when === "after") || operation === "release"

const tryStep = Effect.fnUntraced(function* (request: string, call: Call, fault: Fault) {
  const exit = yield* underPlan(request, faultAtStep(call.step, fault))
  expect(endOf(exit)).toBe(fault.kind === "unavailable" ? "ServiceUnavailable" : "defect")
  const made = yield* isWhole
  if (!mayStayHeld(call, fault)) expect(yield* status).not.toBe("IN_PROGRESS")
  yield* TestClock.adjust("60 seconds")
  expect(yield* status, "when the lease has expired").toBe(
    made.length === 0 ? "UNKNOWN" : "COMPLETED"
  )
  const next = yield* Effect.exit((yield* programs()).process(demo, processBody()))
  expect(endOf(next)).toBe(made.length === 0 ? "Success" : "AlreadyImported")
  const numbers = yield* isWhole
  expect(numbers).toHaveLength(1)
  if (made.length > 0) expect(numbers).toEqual(made)
})

describe.each(Object.entries(requests))("%s", (request, { end }) => {
  const steps = Effect.gen(function* () {
    const plan = noFaults()
    const exit = yield* underPlan(request, plan)
    expect(endOf(exit)).toBe(end)
    return plan.calls()
  }).pipe(Effect.provide(ports), Effect.scoped)

  it.effect.each(allFaults)("leaves all or nothing after $kind $when any step", (fault) =>
    Effect.gen(function* () {
      const calls = yield* steps
      expect(calls.length).toBeGreaterThan(3)
      for (const call of calls) {
        yield* tryStep(request, call, fault).pipe(
          Effect.provide(ports),
          Effect.catchDefect((defect) =>
            Effect.die(new Error(`at step ${call.step}, ${call.operation}`, { cause: defect }))
          )
        )
      }
    })
  )
})

describe("a storage outage", () => {
  it.effect("is not recorded as a refusal", () =>
    Effect.gen(function* () {
      const away = faultAtEvery("supplier", { kind: "unavailable", when: "before" })
      expect(endOf(yield* underPlan("process", away))).toBe("ServiceUnavailable")
      const { audit } = yield* tracesOf(key)
      expect(audit.map(({ outcome }) => outcome)).toEqual(["created"])
    }).pipe(Effect.provide(ports))
  )

  it.effect("is recorded for an attempt that had begun", () =>
    Effect.gen(function* () {
      const away = faultAtEvery("complete", { kind: "unavailable", when: "before" })
      expect(endOf(yield* underPlan("process", away))).toBe("ServiceUnavailable")
      const { attempts, audit, events } = yield* tracesOf(key)
      expect(attempts.map(({ outcome }) => outcome)).toEqual(["service_unavailable"])
      expect(audit.at(-1)).toMatchObject({ action: "process", outcome: "service_unavailable" })
      expect(events.at(-1)).toMatchObject({ codes: ["service_unavailable"] })
    }).pipe(Effect.provide(ports))
  )
})
