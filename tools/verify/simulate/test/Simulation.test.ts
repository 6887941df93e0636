/** Many seeds pass, the same seed makes the same run, and every broken adapter is found. */
import { describe, expect, it } from "vitest"
import { simulateInMemory } from "../InMemory.ts"
import { failureLines } from "../Output.ts"
import type { Report } from "../Simulation.ts"
import { defects } from "../defects/Defects.ts"

const steps = 250
/**
 * Seed 178 once failed: a status that was read before a lease was renewed came days after. In seed
 * 193 an account is reverted while a vendor is asked, in 286 while an old attempt is about to
 * create another.
 */
const seeds = [...Array.from({ length: 120 }, (_, index) => index + 1), 178, 193, 286]

/** The lines that a failed run prints; none for a run that holds. */
const failureOf = (report: Report, length: number): ReadonlyArray<string> =>
  report.failure === null
    ? []
    : failureLines(
        report,
        report.log,
        `npm run simulate -- --seed ${report.seed} --steps ${length}`
      )

describe("the simulation", { timeout: 240_000 }, () => {
  it("passes for many seeds, and every outcome occurs", () => {
    const met = new Set<string>()
    const failed = seeds.flatMap((seed) => {
      const report = simulateInMemory(seed, steps)
      for (const what of report.met.keys()) met.add(what)
      return failureOf(report, steps)
    })
    expect(failed.join("\n")).toBe("")
    expect([...met]).toEqual(expect.arrayContaining(toMeet))
  })

  it("makes the same run from the same seed, and another from another", () => {
    const [once, again, other] = [11, 11, 12].map((seed) => simulateInMemory(seed, steps).log)
    expect(again).toEqual(once)
    expect(other).not.toEqual(once)
  })
})

describe("the simulation finds", { timeout: 120_000 }, () => {
  it.each(defects)("$what", ({ found, seed }) => {
    expect(found(seed), "find another seed: npm run simulate -- --witnesses").not.toBeNull()
  })
})

const toMeet = [
  "a call outlives its instance",
  "ImportProcesses.stage gives Created",
  "ImportProcesses.stage gives Replaced",
  "ImportProcesses.stage gives Refused Imported",
  "ImportProcesses.stage gives Refused InProgress",
  "ImportProcesses.stage gives Refused Skipped",
  "ImportProcesses.claim gives Claimed",
  "ImportProcesses.claim gives Refused InProgress",
  "ImportProcesses.claim gives LimitExceeded",
  "ImportProcesses.complete gives Completed",
  "ImportProcesses.complete gives LeaseLost",
  "ImportProcesses.complete gives NumberTaken",
  "ImportProcesses.dryRun gives LeaseLost",
  "ImportProcesses.renew gives true",
  "ImportProcesses.renew gives false",
  "ImportProcesses.setSkipped gives Refused InProgress",
  "IdempotencyKeys.reserve gives Reserved",
  "IdempotencyKeys.reserve gives Kept",
  "IdempotencyKeys.reserve gives InUse",
  "IdempotencyKeys.reserve gives Reused",
  "ImportProcesses.stage gives failed ReservationLost",
  "ImportProcesses.complete gives failed ReservationLost",
  "Accounts.change gives failed ReservationLost",
  "process is answered idempotency_key_in_use",
  "transactions is answered idempotency_key_reused",
  "IdempotencyKeys.reserve gives Reverted",
  "process is answered account_reverted",
  "transactions is answered account_reverted",
  ...[
    "AccountHasAdditions",
    "AccountNumberDiffers",
    "ImportNotImported",
    "MigrationNotOngoing",
    "ReservationLost",
    "RevertWindowClosed"
  ].map((code) => `Reverts.revert gives failed ${code}`),
  ...[
    "ImportProcesses.stage",
    "ImportProcesses.claim",
    "ImportProcesses.complete",
    "ImportProcesses.renew",
    "ImportProcesses.setSkipped",
    "Accounts.change",
    "PaymentVendor.verify",
    "Reverts.revert"
  ].map((call) => `a revert comes before ${call}`),
  ...["stage", "process", "notes", "transactions", "statements", "instruction", "revert"].map(
    (kind) => `${kind} is answered ok, which was kept`
  ),
  "process is answered account_failed_validation",
  "process is answered dry_run_successful",
  "transactions is answered transaction_outside_open_period",
  "transactions is answered duplicate_transaction_ids",
  "instruction is answered active_payment_instruction_exists",
  "instruction is answered payment_instruction_rejected_by_vendor",
  "stage is answered import_supplier_migration_not_ongoing",
  "notes is answered service_unavailable",
  "notes is answered error"
]
