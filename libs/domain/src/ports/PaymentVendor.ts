/**
 * The payment vendors, as far as an import needs them: whether an instruction exists there and is
 * active, and what may be kept of it. A vendor's own address, credentials, time limits and words
 * stay in its adapter.
 */
import { Context, Data, type Effect } from "effect"
import type { OrganisationName } from "../organisation/Organisation.ts"
import type { InstructionDetails, PaymentInstruction } from "../account/PaymentInstruction.ts"

/** The vendor answered, and the answer is no. `reason` is ours, never the vendor's text. */
export class VendorRejected extends Data.TaggedError("VendorRejected")<{
  readonly reason: "unknown" | "inactive" | "wrong_type" | "credentials" | "refused"
}> {}

/** The vendor cannot be reached for good: unknown host, failed TLS, not configured. */
export class VendorUnreachable extends Data.TaggedError("VendorUnreachable")<{
  readonly cause?: unknown
}> {}

/** The vendor cannot be reached for the moment; the same request may succeed later. */
export class VendorUnavailable extends Data.TaggedError("VendorUnavailable")<{
  readonly cause?: unknown
}> {}

export class PaymentVendor extends Context.Service<
  PaymentVendor,
  {
    /**
     * The details of an instruction that exists, is active and of the type asked for. What one
     * organisation asks never makes the answer to another one a refusal.
     */
    readonly verify: (
      instruction: PaymentInstruction,
      organisation: OrganisationName
    ) => Effect.Effect<InstructionDetails, VendorRejected | VendorUnreachable | VendorUnavailable>
  }
>()("@data-import/domain/ports/PaymentVendor") {}
