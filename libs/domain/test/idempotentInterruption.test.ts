/**
 * Every write under an idempotency key, with its process killed or its storage lost before and
 * after every step: sent again under the same key it takes effect once, and gets the answer of an
 * undisturbed run.
 * Source: docs/contract/http.md#idempotency-keys.
 */
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, type Layer, Predicate, Result } from "effect"
import { TestClock } from "effect/testing"
import { MemoryStore } from "../testing/memory/Store.ts"
import type { Failure } from "../src/requests/Failure.ts"
import type { ResponseRecorder } from "../src/idempotency/IdempotencyKey.ts"
import {
  allFaults,
  type Call,
  type Fault,
  faultAtStep,
  type FaultPlan,
  faultPlan,
  noFaults
} from "../testing/faults.ts"
import { tracesOf } from "../testing/importStates.ts"
import { freshKeyed, inOneStep } from "../testing/keyedRequests.ts"
import type { Wire } from "../testing/wire.ts"
import type { operations } from "./postImportPrograms.ts"
import {
  beginImported,
  call,
  onAccount,
  postImport,
  transaction,
  world
} from "./postImportPrograms.ts"
import {
  begin,
  demo,
  idempotentWrites,
  key,
  processBody,
  programs,
  stageBody
} from "./importPrograms.ts"

type Program = (recorder?: ResponseRecorder<unknown>) => Effect.Effect<unknown, Failure>

type World = Layer.Success<typeof world>

interface Write {
  /** The setup before the write. */
  readonly arrange: Effect.Effect<unknown, unknown, World>
  /** The program on ports with the faults of the plan. */
  readonly on: (plan: FaultPlan) => Effect.Effect<Program, unknown, World>
}

const staged = Effect.gen(function* () {
  yield* begin()
  yield* (yield* programs()).stage(demo, stageBody({ billing_name: "Old" }))
})

const staging = (plan: FaultPlan) =>
  Effect.map(
    programs(plan),
    (program): Program =>
      (recorder) =>
        program.stage(demo, stageBody({ billing_name: "New" }), recorder)
  )

const addition = (name: keyof typeof operations, values: Wire = {}): Write => ({
  arrange: beginImported(),
  on: (plan) =>
    Effect.map(
      postImport(plan),
      (program): Program =>
        (recorder) =>
          call(program, name, values, demo, recorder)
    )
})

const unchecked = Result.succeed({
  checkPreviouslyAdded: false,
  forceAddToCurrentStatement: true,
  onDifference: "keep" as const
})

const writes: Readonly<Record<string, Write>> = {
  "a first staging": { arrange: begin(), on: staging },
  "a later staging": { arrange: staged, on: staging },
  process: {
    arrange: staged,
    on: (plan) =>
      Effect.map(
        programs(plan),
        (program): Program =>
          (recorder) =>
            program.process(demo, processBody(), recorder)
      )
  },
  // With another time it would be another note.
  notes: addition("notes", {
    notes: ["first", "second"].map((body) => ({ body, created_at: "2026-01-02T08:00:00Z" }))
  }),
  transactions: addition("transactions"),
  statements: addition("statements"),
  instruction: addition("instruction"),
  "transactions with check_previously_added=false": {
    arrange: beginImported(),
    on: (plan) =>
      Effect.map(
        postImport(plan),
        (program): Program =>
          (recorder) =>
            program.createTransactions(
              demo,
              { ...key, transactions: [transaction("t1"), transaction("t2")] },
              unchecked,
              recorder
            )
      )
  }
}

/** The text without account numbers, which are random. */
const withoutNumbers = (text: string): string => text.replaceAll(/A-[0-9A-F]{8}/g, "A-")

const request = freshKeyed(demo.organisation)

/** Sends the request under its key, on ports with the faults of the plan. */
const send = Effect.fnUntraced(function* ({ on }: Write, plan: FaultPlan) {
  const { run } = yield* idempotentWrites(plan)
  const program = yield* on(plan)
  const textOf = (answer: unknown) => JSON.stringify(answer)
  const written = yield* run(request, inOneStep(textOf), program)
  return written._tag === "Fresh"
    ? { text: textOf(written.answer), replayed: false }
    : { text: written.text, replayed: true }
})

/** The effects of the write, without earlier attempts and refusals. */
const effects = Effect.gen(function* () {
  const { accounts, imports } = yield* MemoryStore
  const { audit, events } = yield* tracesOf(key)
  const isEffect = (outcome: string) => /^(created|replaced)$/.test(outcome)
  const account =
    accounts.size === 0 ? null : { ...(yield* onAccount), account_created_at: "some time" }
  const found = {
    payload: imports.get(key.import_supplier)?.get(key.external_account_number)?.payload,
    accounts: accounts.size,
    account,
    audit: audit
      .filter(({ outcome }) => isEffect(outcome))
      .map(({ action, outcome }) => `${action} ${outcome}`),
    events: events.map(({ name }) => name).filter((name) => !name.includes("error"))
  }
  return withoutNumbers(JSON.stringify(found))
})

/** The answer, the effects and the steps of the write without a fault. */
const undisturbed = (write: Write) =>
  Effect.gen(function* () {
    yield* write.arrange
    const plan = noFaults()
    const { text } = yield* send(write, plan)
    return { answer: withoutNumbers(text), effects: yield* effects, calls: plan.calls() }
  }).pipe(Effect.provide(world))

const failureOf = (exit: Exit.Exit<unknown, unknown>): string => {
  const failure = Exit.isSuccess(exit) ? undefined : Cause.squash(exit.cause)
  return Predicate.hasProperty(failure, "_tag") ? String(failure._tag) : String(failure)
}

/** Refusals that ask to retry later. */
const laterOn = ["IdempotencyKeyInUse", "ImportInProgress"]

/** Sends the write again at once, and once more when a dead process's leases have expired. */
const sendAgain = Effect.fnUntraced(function* (write: Write) {
  const atOnce = yield* Effect.exit(send(write, noFaults()))
  if (Exit.isSuccess(atOnce)) return { ...atOnce.value, atOnce: true }
  expect(laterOn).toContain(failureOf(atOnce))
  yield* TestClock.adjust("60 seconds")
  return { ...(yield* send(write, noFaults())), atOnce: false }
})

const isPort = (call: Call, name: string): boolean => call.port.endsWith(name)

/** Whether leases may stay held: the process is dead, or the claim of the import failed. */
const mayStayHeld = (call: Call, { kind }: Fault): boolean =>
  kind === "crash" || (call.operation === "claim" && isPort(call, "ImportProcesses"))

const tryStep = Effect.fnUntraced(function* (
  write: Write,
  expected: Effect.Success<ReturnType<typeof undisturbed>>,
  call: Call,
  fault: Fault
) {
  yield* write.arrange
  const struck = yield* Effect.exit(send(write, faultAtStep(call.step, fault)))
  expect(Exit.isFailure(struck)).toBe(true)
  const again = yield* sendAgain(write)
  expect(withoutNumbers(again.text), "the answer").toBe(expected.answer)
  expect(yield* effects, "what it leaves behind").toBe(expected.effects)
  if (!mayStayHeld(call, fault)) expect(again.atOnce, "retried at once").toBe(true)
  expect(yield* send(write, noFaults())).toEqual({ text: again.text, replayed: true })
  expect(yield* effects, "after a replay").toBe(expected.effects)
})

describe.each(Object.entries(writes))("%s", (_name, write) => {
  it.effect.each(allFaults)("takes effect once after $kind $when any step", (fault) =>
    Effect.gen(function* () {
      const expected = yield* undisturbed(write)
      const { calls } = expected
      expect(calls[0]?.operation).toBe("reserve")
      expect(calls.length).toBeGreaterThan(2)
      for (const each of calls) {
        yield* tryStep(write, expected, each, fault).pipe(
          Effect.provide(world),
          Effect.catchDefect((defect) =>
            Effect.die(new Error(`at step ${each.step}, ${each.operation}`, { cause: defect }))
          )
        )
      }
    })
  )
})

describe("a failed release of a key", () => {
  it.effect.each(allFaults.filter(({ kind }) => kind !== "crash"))(
    "leaves the key reserved until its lease expires: $kind $when",
    ({ kind, when }) =>
      Effect.gen(function* () {
        const write = writes["notes"] as Write
        yield* write.arrange
        const plan = faultPlan(({ operation }) => {
          if (operation === "change") return { kind: "unavailable", when: "before" }
          return operation === "release" ? { kind, when } : null
        })
        const struck = yield* Effect.exit(send(write, plan))
        expect(failureOf(struck), "the refusal is that of the write").toBe("ServiceUnavailable")
        const again = yield* sendAgain(write)
        expect(again).toMatchObject({ replayed: false, atOnce: when === "after" })
      }).pipe(Effect.provide(world))
  )
})
