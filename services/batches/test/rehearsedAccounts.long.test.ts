import { layer } from "@effect/vitest"
import * as Service from "./batchesService.ts"
import { rehearsedAndRun } from "./rehearsedAccounts.ts"

layer(Service.service, { excludeTestServices: true, timeout: "1 minute" })(
  "10,000 generated accounts",
  (it) => {
    it.effect.each(["IMPORT", "PROCESS"] as const)(
      "go as a rehearsal of %s predicts",
      (operation) => rehearsedAndRun(operation, 10_000),
      { timeout: 1_200_000 }
    )
  }
)
