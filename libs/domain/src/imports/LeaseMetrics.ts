/** The metrics of attempts of imports; every process reports the same values. */
import { DateTime, Duration, Effect, Metric } from "effect"
import type { ImportProcesses } from "./ImportProcesses.ts"
import { every } from "../support/Every.ts"

const leases = (state: "held" | "expired") =>
  Metric.gauge("data_import_leases", {
    description: "Attempts that hold their import, and attempts that died with it.",
    attributes: { state }
  })

/** Reports the metrics until it is interrupted. */
export const reportLeases = (imports: ImportProcesses["Service"]): Effect.Effect<never> =>
  every(
    Duration.seconds(10),
    "the report of leases met an error",
    Effect.gen(function* () {
      const { expired, held } = yield* imports.leases(yield* DateTime.now)
      yield* Metric.update(leases("held"), held)
      yield* Metric.update(leases("expired"), expired)
    })
  )
