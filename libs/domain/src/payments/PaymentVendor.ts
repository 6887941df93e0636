/**
 * The payment vendors: whether an instruction exists at the vendor and is active, and which details
 * may be stored. A vendor's address, credentials, time-outs and terms stay in its adapter.
 */
import { Context, Data, type Effect } from "effect"
import type { Mode, OrganisationName } from "../suppliers/Organisation.ts"
import type { InstructionDetails, PaymentInstruction } from "../accounts/PaymentInstruction.ts"

/**
 * The vendor answered that the instruction cannot be used. `reason` is our own term, never the
 * vendor's text.
 */
export class VendorRejected extends Data.TaggedError("VendorRejected")<{
  readonly reason: "unknown" | "inactive" | "wrong_type" | "credentials" | "refused"
}> {}

/** A permanent failure: unknown host, failed TLS, not configured. */
export class VendorUnreachable extends Data.TaggedError("VendorUnreachable")<{
  readonly cause?: unknown
}> {}

/** A temporary failure; the same request may succeed later. */
export class VendorUnavailable extends Data.TaggedError("VendorUnavailable")<{
  readonly cause?: unknown
}> {}

export class PaymentVendor extends Context.Service<
  PaymentVendor,
  {
    /**
     * The details of an instruction that exists, is active and has the requested type. The requests
     * of one organisation never cause a refusal for another. In test mode only the simulated vendor
     * is asked.
     */
    readonly verify: (
      instruction: PaymentInstruction,
      organisation: OrganisationName,
      mode: Mode
    ) => Effect.Effect<InstructionDetails, VendorRejected | VendorUnreachable | VendorUnavailable>
  }
>()("@data-import/domain/ports/PaymentVendor") {}
