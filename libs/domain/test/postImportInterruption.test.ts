/**
 * An addition that is interrupted at any step and sent again leaves the account as an uninterrupted
 * one does, and no failure of a port is reported as anything else.
 */
import { expect, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { allFaults, faultAtStep, InjectedDefect, noFaults } from "../testing/faults.ts"
import {
  audited,
  beginImported,
  call,
  onAccount,
  operationNames,
  operations,
  postImport,
  world
} from "./postImportPrograms.ts"

/** What the operation leaves on the account, and the steps it takes, without a fault. */
const undisturbed = (name: keyof typeof operations) =>
  Effect.gen(function* () {
    yield* beginImported()
    const plan = noFaults()
    yield* call(yield* postImport(plan), name)
    return { account: yield* onAccount, calls: plan.calls() }
  }).pipe(Effect.provide(world))

it.effect.each(
  operationNames.flatMap((name) =>
    allFaults.map((fault) => [name, fault.kind, fault.when] as const)
  )
)("an interrupted request can be repeated with the same result: %s, %s, %s", ([name, kind, when]) =>
  Effect.gen(function* () {
    const { account, calls } = yield* undisturbed(name)
    expect(calls.length).toBeGreaterThan(2)
    for (const { operation, port, step } of calls) {
      const where = `${operation} of ${port}, step ${step}`
      yield* Effect.gen(function* () {
        yield* beginImported()
        const interrupted = yield* postImport(faultAtStep(step, { kind, when }))
        const exit = yield* Effect.exit(call(interrupted, name))
        if (!Exit.isFailure(exit)) throw new Error(`Nothing failed at ${where}`)
        const failure = Cause.squash(exit.cause)
        if (kind === "unavailable") {
          const code = operation === "verify" ? "payment_vendor_unavailable" : "service_unavailable"
          expect(failure, where).toMatchObject({ code })
        } else {
          expect(failure, where).toBeInstanceOf(InjectedDefect)
        }
        yield* call(yield* postImport(), name)
        expect(yield* onAccount, where).toEqual(account)
        const stored = `${operations[name].action} created`
        expect(
          (yield* audited).filter((entry) => entry === stored),
          where
        ).toHaveLength(1)
      }).pipe(Effect.provide(world))
    }
  })
)
