/**
 * Ports whose every call waits until the simulation lets it proceed, one call at a time. The
 * simulation also decides the fault of the call, if any. So one sequence of decisions determines
 * the order of all calls and everything that goes wrong. A call of a crashed instance never
 * returns, and its finalizers reach no port.
 */
import { Context, Effect, type Exit, Stream } from "effect"
import { type Fault, type FaultPlan, withFaults } from "@data-import/domain/testing/faults"
import type { SentRequest } from "./Request.ts"

/** A waiting call, or an answer on its way back; `go` lets it proceed. */
export interface WaitingCall {
  readonly request: SentRequest
  readonly operation: string
  readonly args: ReadonlyArray<unknown>
  readonly go: () => void
}

/** A call that reached its port, and its result; a stream is read to its end. */
export interface Executed {
  readonly request: SentRequest
  readonly operation: string
  readonly args: ReadonlyArray<unknown>
  readonly exit: Exit.Exit<unknown, unknown>
}

/** On whose behalf a fiber runs; null for the simulation itself, which never waits. */
export const OnBehalf = Context.Reference<SentRequest | null>(
  "@data-import/verify/simulate/OnBehalf",
  {
    defaultValue: () => null
  }
)

export interface CallScheduler {
  /** What can happen next, in the order in which the calls were made. */
  readonly waiting: ReadonlyArray<WaitingCall>
  readonly add: (asked: Omit<WaitingCall, "go">, go: () => void) => void
  readonly remove: (call: WaitingCall) => void
  /** Lets the call proceed, with the fault. */
  readonly proceed: (call: WaitingCall, fault: Fault | null) => void
  /** What was executed since the last call of this, in the order in which it ended. */
  readonly executed: () => ReadonlyArray<Executed>
  /** How many calls have begun and not ended. In memory there is none between two steps. */
  readonly inFlight: () => number
  /** Waits until the simulation lets the call proceed. */
  readonly wait: (operation: string, args: ReadonlyArray<unknown>) => Effect.Effect<void>
  /** The port on this scheduler, with faults; see `withFaults` for `unavailable`. */
  readonly guard: <Identifier, Shape extends object>(
    port: Context.Key<Identifier, Shape>,
    service: Shape,
    unavailable?: () => unknown
  ) => Shape
}

type Outcome = Effect.Effect<unknown, unknown>
type Args = ReadonlyArray<unknown>

/** The service with every operation wrapped: methods, constant effects and streams alike. */
const wrapped = <Shape extends object>(
  port: string,
  service: Shape,
  wrap: (operation: string, args: Args, outcome: Outcome) => Outcome
): Shape => {
  const one = (operation: string, args: Args, member: unknown): unknown => {
    if (Stream.isStream(member)) {
      const whole = Stream.runCollect(member as Stream.Stream<unknown, unknown>)
      const read = wrap(operation, args, whole) as Effect.Effect<ReadonlyArray<unknown>, unknown>
      return Stream.unwrap(Effect.map(read, (elements) => Stream.fromIterable(elements)))
    }
    return wrap(operation, args, member as Outcome)
  }
  const members = Object.entries(service).map(([name, member]: [string, unknown]) => {
    const operation = labelOf(port, name)
    return [
      name,
      typeof member === "function"
        ? (...args: Args) => one(operation, args, (member as (...args: Args) => unknown)(...args))
        : one(operation, [], member)
    ]
  })
  return Object.fromEntries(members) as Shape
}

/** An operation as it is called here: `ImportProcesses.stage`. */
const labelOf = (port: string, operation: string): string =>
  `${port.split("/").at(-1) ?? port}.${operation}`

/** Waits, unless the simulation itself calls. A call of a crashed instance waits for ever. */
const waitToProceed =
  (add: CallScheduler["add"], waiting: Array<WaitingCall>): CallScheduler["wait"] =>
  (operation, args) =>
    Effect.flatMap(OnBehalf, (request) => {
      if (request === null) return Effect.void
      if (request.instance.crashed) return Effect.never
      return Effect.callback<void>((resume) => {
        add({ request, operation, args }, () => resume(Effect.void))
        const call = waiting.at(-1)
        return Effect.sync(() => {
          const at = call === undefined ? -1 : waiting.indexOf(call)
          if (at >= 0) waiting.splice(at, 1)
        })
      })
    })

export const makeCallScheduler = (): CallScheduler => {
  const waiting: Array<WaitingCall> = []
  let proceeding: { readonly call: WaitingCall; readonly fault: Fault | null } | null = null
  let executed: ReadonlyArray<Executed> = []
  let inFlight = 0

  const remove = (call: WaitingCall) => {
    const at = waiting.indexOf(call)
    if (at >= 0) waiting.splice(at, 1)
  }
  const add: CallScheduler["add"] = (asked, go) => {
    const call: WaitingCall = { ...asked, go }
    waiting.push(call)
  }
  const wait = waitToProceed(add, waiting)

  const plan: FaultPlan = {
    calls: () => [],
    next: (port, operation) => {
      const isProceeding = proceeding?.call.operation === labelOf(port, operation)
      const fault = isProceeding ? (proceeding?.fault ?? null) : null
      proceeding = null
      return { call: { port, operation, nth: 1, step: 1 }, fault }
    }
  }

  const recorded = (operation: string, args: Args, outcome: Outcome): Outcome =>
    Effect.flatMap(OnBehalf, (request) => {
      if (request === null) return outcome
      inFlight += 1
      return Effect.onExit(outcome, (exit) =>
        Effect.sync(() => {
          inFlight -= 1
          executed = [...executed, { request, operation, args, exit }]
        })
      )
    })

  return {
    waiting,
    add,
    remove,
    proceed: (next, fault) => {
      remove(next)
      proceeding = { call: next, fault }
      next.go()
    },
    executed: () => {
      const ended = executed
      executed = []
      return ended
    },
    inFlight: () => inFlight,
    wait,
    guard: (port, service, unavailable) =>
      wrapped(
        port.key,
        withFaults(port, wrapped(port.key, service, recorded), plan, unavailable),
        (operation, args, outcome) => Effect.andThen(wait(operation, args), outcome)
      )
  }
}
