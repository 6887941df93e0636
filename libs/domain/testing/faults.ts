/**
 * Ports that fail on demand: unavailable, with a defect, or as in a crash of the process. A program
 * is run once to see its steps, and then once for each step with a fault there, so that no failure
 * that leaves partial data is missed.
 */
import { type Context, Effect, Stream } from "effect"
import { StorageUnavailable } from "../src/requests/StorageUnavailable.ts"

/**
 * One use of a port: the `nth` of this operation, and the `step`-th under the plan; both from 1.
 */
export interface Call {
  readonly port: string
  readonly operation: string
  readonly nth: number
  readonly step: number
}

/**
 * `unavailable` is the port's own failure, `defect` a bug or a driver's error. `crash` is the end
 * of the process: this call and every later one under the plan dies, so that the finalizers of a
 * program reach no port either.
 */
export type FaultKind = "unavailable" | "defect" | "crash"

/**
 * `before`: the step had no effect. `after`: the step took effect, but the caller gets no result.
 */
export interface Fault {
  readonly kind: FaultKind
  readonly when: "before" | "after"
}

/** Every fault, for tests that try them all. */
export const allFaults: ReadonlyArray<Fault> = (
  ["unavailable", "defect", "crash"] as const
).flatMap((kind) => [
  { kind, when: "before" },
  { kind, when: "after" }
])

/** The defect of a call for which a plan says `defect` or `crash`. */
class InjectedDefect extends Error {
  readonly call: Call

  constructor(kind: FaultKind, call: Call) {
    super(`${kind} injected at ${call.operation} #${call.nth} of ${call.port}, step ${call.step}`)
    this.name = "InjectedDefect"
    this.call = call
  }
}

/**
 * Which calls fail, and how. A plan counts the calls of all ports that share it, and is for one
 * run.
 */
export interface FaultPlan {
  /** Counts the call, and returns its fault, if any. */
  readonly next: (
    port: string,
    operation: string
  ) => { readonly call: Call; readonly fault: Fault | null }
  /** The calls so far, those that failed included. */
  readonly calls: () => ReadonlyArray<Call>
}

/** A plan that decides for every call. */
export const faultPlan = (decide: (call: Call) => Fault | null): FaultPlan => {
  const calls: Array<Call> = []
  let crashed = false
  return {
    calls: () => calls,
    next: (port, operation) => {
      const earlier = calls.filter((call) => call.port === port && call.operation === operation)
      const call = { port, operation, nth: earlier.length + 1, step: calls.length + 1 }
      if (crashed) return { call, fault: { kind: "crash", when: "before" } }
      calls.push(call)
      const fault = decide(call)
      crashed = fault?.kind === "crash"
      return { call, fault }
    }
  }
}

/** No call fails; for seeing what a program calls. */
export const noFaults = (): FaultPlan => faultPlan(() => null)

/** The call at this step fails, whatever it is. */
export const faultAtStep = (step: number, fault: Fault): FaultPlan =>
  faultPlan((call) => (call.step === step ? fault : null))

/** Every call of this operation fails. */
export const faultAtEvery = (operation: string, fault: Fault): FaultPlan =>
  faultPlan((call) => (call.operation === operation ? fault : null))

type Unavailable = () => unknown
type Strike = {
  readonly when: Fault["when"]
  readonly effect: Effect.Effect<never, unknown>
} | null

const struck = (member: unknown, strike: Effect.Effect<Strike>): unknown => {
  if (Stream.isStream(member)) {
    return Stream.unwrap(
      Effect.map(strike, (fault) => {
        if (fault === null) return member
        const end = Stream.fromEffectDrain(fault.effect)
        return fault.when === "before" ? end : Stream.concat(member, end)
      })
    )
  }
  if (Effect.isEffect(member)) {
    return Effect.flatMap(strike, (fault): Effect.Effect<unknown, unknown, unknown> => {
      if (fault === null) return member
      return fault.when === "before" ? fault.effect : Effect.andThen(member, fault.effect)
    })
  }
  return member
}

const isMethod = (member: unknown): member is (...args: ReadonlyArray<unknown>) => unknown =>
  typeof member === "function"

/**
 * The service with the faults of the plan. `unavailable` makes the failure of that name, for a port
 * whose own is not StorageUnavailable.
 */
export const withFaults = <Identifier, Shape extends object>(
  port: Context.Key<Identifier, Shape>,
  service: Shape,
  plan: FaultPlan,
  unavailable: Unavailable = () => new StorageUnavailable({})
): Shape => {
  const strikeAt = (operation: string): Effect.Effect<Strike> =>
    Effect.sync(() => {
      const { call, fault } = plan.next(port.key, operation)
      if (fault === null) return null
      const effect =
        fault.kind === "unavailable"
          ? Effect.fail(unavailable())
          : Effect.die(new InjectedDefect(fault.kind, call))
      return { when: fault.when, effect }
    })
  const members = Object.entries(service).map(([operation, member]: [string, unknown]) => {
    const strike = strikeAt(operation)
    const faultyMember = isMethod(member)
      ? (...args: ReadonlyArray<unknown>) => struck(member(...args), strike)
      : struck(member, strike)
    return [operation, faultyMember] as const
  })
  return Object.fromEntries(members) as Shape
}
