/** Seals the audit log each second: see `SealedAuditLog`. */
import { Duration, Effect } from "effect"
import { every } from "../support/Every.ts"
import type { SealedAuditLog } from "./SealedAuditLog.ts"

/** Entries of one transaction, which lasts some tens of milliseconds. */
const atOnce = 2_000

/** Seals until it is interrupted. Any number of processes may; one at a time does. */
export const sealing = ({ seal }: SealedAuditLog["Service"]): Effect.Effect<never> =>
  every(
    Duration.seconds(1),
    "the sealing of the audit log met an error",
    Effect.repeat(seal(atOnce), { while: (sealed) => sealed === atOnce })
  )
