/**
 * All payment vendors, behind the port. Each has a timeout, and a circuit breaker for each
 * organisation, so that one failing vendor does not slow the others and no organisation opens the
 * breaker of another. A new vendor is a file and a line in the table here. In test mode the
 * simulated vendors are used instead, without a key and without a connection.
 */
import { Cause, Effect, Exit, Layer, Option } from "effect"
import { HttpClient } from "effect/http"
import { CircuitBreaker } from "effect/persistence"
import { PaymentVendor } from "@data-import/domain/payments/PaymentVendor"
import { isSlow, simulate } from "@data-import/domain/payments/SimulatedVendors"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type {
  InstructionDetails,
  PaymentInstruction
} from "@data-import/domain/accounts/PaymentInstruction"
import { goCardless } from "./GoCardless.ts"
import { stripe } from "./Stripe.ts"
import {
  aboutReference,
  rejected,
  unavailable,
  unreachable,
  type VendorDefinition,
  type VendorFailure
} from "./VendorDefinition.ts"
import { traced } from "@data-import/domain/support/Traced"
import * as VendorMetrics from "./VendorMetrics.ts"
import { circuitOpen } from "./VendorMetrics.ts"
import * as VendorHttp from "./VendorHttp.ts"
import { vendorSettings } from "./VendorSettings.ts"

const vendors: ReadonlyArray<VendorDefinition> = [stripe, goCardless]

type Verified = Effect.Effect<InstructionDetails, VendorFailure>

/**
 * A rejection is a success: the vendor works. An unreachable vendor and an unexpected answer to one
 * reference are ignored, because they say nothing about the vendor's health.
 */
const classify = (exit: Exit.Exit<InstructionDetails, VendorFailure>): CircuitBreaker.Outcome => {
  if (Exit.isSuccess(exit)) return CircuitBreaker.success
  const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  const isAboutReference = Object.values<unknown>(aboutReference).includes(failure?.cause)
  if (failure?._tag === "VendorUnavailable" && !isAboutReference) return CircuitBreaker.failure()
  return failure?._tag === "VendorRejected" ? CircuitBreaker.success : CircuitBreaker.ignored
}

/** Logs a failure for the operator, without the reference: it may be a card number. */
const log = (vendor: string, failure: VendorFailure): Effect.Effect<void> => {
  const why = failure._tag === "VendorRejected" ? failure.reason : String(failure.cause)
  if (failure._tag === "VendorRejected" && why !== "credentials") return Effect.void
  const annotations = { vendor, failure: failure._tag, why }
  return Effect.annotateLogs(Effect.logWarning("payment vendor failed"), annotations)
}

const makeVerify = Effect.fnUntraced(function* (vendor: VendorDefinition) {
  const { key, timeout, url } = yield* vendorSettings(vendor)
  const client = yield* HttpClient.HttpClient
  const breaker = yield* CircuitBreaker.CircuitBreaker
  const notConfigured = (): Verified => Effect.fail(unreachable("not configured"))
  if (Option.isNone(key)) return { timeout, verify: notConfigured }
  const read = VendorHttp.make(client, vendor, url, key.value)
  const measured = VendorMetrics.make(vendor.code, breaker)
  const verify = (reference: string, organisation: OrganisationName): Verified => {
    const breakerKey = `${vendor.code}:${organisation}`
    return vendor.verify(read, reference).pipe(
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(unavailable("time-out"))
      }),
      breaker.execute({ key: breakerKey, classify }),
      Effect.catchTag("CircuitBreakerError", () => Effect.fail(unavailable(circuitOpen))),
      measured(breakerKey)
    )
  }
  return { timeout, verify }
})

const make = Effect.gen(function* () {
  const table = new Map(
    yield* Effect.forEach(vendors, (vendor) =>
      Effect.map(makeVerify(vendor), (asked) => [vendor.code, { ...vendor, ...asked }] as const)
    )
  )
  const askReal = (
    { reference, type, vendor: code }: PaymentInstruction,
    organisation: OrganisationName
  ): Verified => {
    const vendor = table.get(code)
    if (vendor === undefined) return Effect.fail(unreachable("no adapter"))
    if (type !== vendor.type) return Effect.fail(rejected("wrong_type"))
    if (!VendorHttp.isSegment(reference)) return Effect.fail(rejected("unknown"))
    return vendor.verify(reference, organisation)
  }
  const askSimulated = (instruction: PaymentInstruction): Verified => {
    const timeout = isSlow(instruction) && table.get(instruction.vendor)?.timeout
    return timeout ? Effect.delay(simulate(instruction), timeout) : simulate(instruction)
  }
  return PaymentVendor.of({
    verify: traced("PaymentVendor.verify")((instruction, organisation, mode) =>
      mode === "test"
        ? askSimulated(instruction)
        : Effect.tapError(askReal(instruction, organisation), (failure) =>
            log(instruction.vendor, failure)
          )
    )
  })
})

/**
 * Opens after five failures in a row, for ten seconds; then lets one request through as a probe.
 */
const layerBreaker = CircuitBreaker.layer({
  tripPolicy: CircuitBreaker.consecutive(5),
  openDuration: "10 seconds"
}).pipe(Layer.provide(CircuitBreaker.layerStoreMemory()))

/**
 * Every vendor, with the settings of `vendorSettings`. Needs an HTTP client:
 * `FetchHttpClient.layer`.
 */
export const layer = Layer.effect(PaymentVendor, make).pipe(Layer.provide(layerBreaker))
