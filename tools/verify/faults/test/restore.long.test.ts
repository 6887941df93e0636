/**
 * The short form of a disaster, on a separate system. `npm run test:restore` repeats it with a
 * PostgreSQL that waits for the disk, with the archive of a deployment, and with limits of time.
 */
import { expect, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as System from "@data-import/testbed/System"
import { isRight, line } from "../Report.ts"
import { report } from "../Scenario.ts"
import { restoreToPoint } from "../scenarios/Restore.ts"

/** Long enough for a busy machine. */
const limit = Duration.minutes(4)

layer(System.layer({ proxied: false, durable: false, seed: 1 }), {
  excludeTestServices: true,
  timeout: limit
})("a system that was destroyed", (it) => {
  it.effect(
    "has every write that was acknowledged before the point, and none after it",
    () =>
      Effect.gen(function* () {
        const found = yield* report(restoreToPoint, restoreToPoint.short)
        expect(found.findings.described(5), line(found)).toEqual([])
        expect(isRight(found), line(found)).toBe(true)
      }),
    Duration.toMillis(limit)
  )
})
