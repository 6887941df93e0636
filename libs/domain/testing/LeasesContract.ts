/** How many leases are held and have expired: one part of the contract of `ImportProcesses`. */
import { expect, type Vitest } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { freshSupplier, noon } from "./freshNames.ts"
import { claim, lease, stagedContent } from "./importStates.ts"

type It = Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>

/** Long after the other imports of the store, so that only those of these tests are held. */
const later = DateTime.add(noon, { days: 2_000 })

export const leasesContract = (it: It): void => {
  it.effect("are held until they expire, and are gone with their attempt", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* freshSupplier
      const key = keyOf("n")
      yield* imports.stage({ key, ...stagedContent, caller, at: later })
      const before = yield* imports.leases(later)
      expect(before.held).toBe(0)
      const { attempt } = yield* claim(key, caller, later)
      expect(yield* imports.leases(later)).toEqual({ ...before, held: 1 })
      const end = DateTime.addDuration(later, lease)
      const died = { held: 0, expired: before.expired + 1 }
      expect(yield* imports.leases(end)).toEqual(died)
      const outcome = "account_failed_validation" as const
      yield* imports.release({ key, attempt, outcome, errors: [], dryRun: false, caller, at: end })
      expect(yield* imports.leases(end)).toEqual(before)
    })
  )
}
