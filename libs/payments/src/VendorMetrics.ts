/** Metrics of calls to payment vendors, by vendor and outcome. */
import { Cause, Clock, Effect, Exit, Metric, Option } from "effect"
import type { CircuitBreaker } from "effect/persistence"
import type { InstructionDetails } from "@data-import/domain/accounts/PaymentInstruction"
import type { VendorFailure } from "./VendorDefinition.ts"

/** The outcome if a vendor was not called. */
export const circuitOpen = "circuit open"

type Outcome =
  | "verified"
  | "rejected"
  /** The vendor refuses our key, so every verification fails until it is replaced. */
  | "credentials"
  | "unreachable"
  | "unavailable"
  | "circuit_open"
  | "error"

const duration = (vendor: string, outcome: Outcome) =>
  Metric.histogram("data_import_vendor_request_duration_seconds", {
    description: "Verifications of payment instructions by vendors.",
    boundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    attributes: { vendor, outcome }
  })

const openBreakers = (vendor: string) =>
  Metric.gauge("data_import_vendor_circuit_breakers_open", {
    description: "Organisations for which the vendor is not asked, since it failed.",
    attributes: { vendor }
  })

const outcomeOf = (exit: Exit.Exit<unknown, VendorFailure>): Outcome => {
  if (Exit.isSuccess(exit)) return "verified"
  const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  switch (failure?._tag) {
    case "VendorRejected":
      return failure.reason === "credentials" ? "credentials" : "rejected"
    case "VendorUnreachable":
      return "unreachable"
    case "VendorUnavailable":
      return failure.cause === circuitOpen ? "circuit_open" : "unavailable"
    case undefined:
      return "error"
  }
}

type Verified = Effect.Effect<InstructionDetails, VendorFailure>

/** Makes the function that measures a verification behind the breaker of this key. */
export const make = (vendor: string, breaker: CircuitBreaker.CircuitBreaker) => {
  const open = new Set<string>()
  const reportBreaker = (key: string) =>
    Effect.flatMap(Effect.orDie(breaker.state(key)), ({ _tag }) => {
      if (_tag === "Closed") open.delete(key)
      else open.add(key)
      return Metric.update(openBreakers(vendor), open.size)
    })
  return (key: string) =>
    (verified: Verified): Verified =>
      Effect.flatMap(Clock.Clock, (clock) => {
        const began = clock.monotonicTimeNanosUnsafe()
        return Effect.onExit(verified, (exit) => {
          const seconds = Number(clock.monotonicTimeNanosUnsafe() - began) / 1e9
          const measured = Metric.update(duration(vendor, outcomeOf(exit)), seconds)
          return Effect.andThen(measured, reportBreaker(key))
        })
      })
}
