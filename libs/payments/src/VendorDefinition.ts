/**
 * The description of a payment vendor, and the failures that all vendors have in common. A vendor
 * is one value of this type in a separate file, and one line in the table of `PaymentVendors`.
 * Requests, timeouts and the circuit breaker are shared by all vendors.
 */
import type { Effect, Schema } from "effect"
import {
  VendorRejected,
  VendorUnavailable,
  VendorUnreachable
} from "@data-import/domain/payments/PaymentVendor"
import type {
  InstructionDetails,
  PaymentInstruction
} from "@data-import/domain/accounts/PaymentInstruction"

export type VendorFailure = VendorRejected | VendorUnreachable | VendorUnavailable

/**
 * Reads one JSON resource of the vendor with GET. Every part of the path becomes one segment, with
 * its characters escaped. Fields that the schema lacks are dropped. An answer that does not fit the
 * schema is a failure.
 */
export type Read = <A>(
  path: ReadonlyArray<string>,
  schema: Schema.ConstraintDecoder<A>
) => Effect.Effect<A, VendorFailure>

export interface VendorDefinition {
  /** As in `vendor` of a payment instruction, and in the names of the settings. */
  readonly code: string
  /** The URL of the vendor's API, unless the operator sets another. */
  readonly url: string
  /** The one type of instruction that the vendor offers. */
  readonly type: PaymentInstruction["type"]
  /** Sent with every request, beside the credentials. */
  readonly headers: Readonly<Record<string, string>>
  /** The details of the instruction, if it exists, is active and of the vendor's type. */
  readonly verify: (
    read: Read,
    reference: string
  ) => Effect.Effect<InstructionDetails, VendorFailure>
}

export const rejected = (reason: VendorRejected["reason"]): VendorRejected =>
  new VendorRejected({ reason })

/** `why` is our own text or an error code of the runtime, never data from the vendor. */
export const unreachable = (why: string): VendorUnreachable => new VendorUnreachable({ cause: why })

/** Faults of the answer to one reference. They say nothing about the vendor's health. */
export const aboutReference = { unexpected: "unexpected answer", tooLong: "answer too long" }

/** `why` as for `unreachable`. */
export const unavailable = (why: string): VendorUnavailable => new VendorUnavailable({ cause: why })
