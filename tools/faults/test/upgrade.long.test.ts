/**
 * The short form of an upgrade and the way back, on a system with two instances of everything. It
 * needs the history of the repository, which a shallow clone and an archive do not have.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as System from "@data-import/testbed/System"
import { isRight, line } from "../Report.ts"
import { report } from "../Scenario.ts"
import { upgrade } from "../scenarios/Upgrade.ts"

const git = join(import.meta.dirname, "..", "..", "..", ".git")
const hasHistory = existsSync(git) && !existsSync(join(git, "shallow"))

/** Long enough for a busy machine. */
const limit = Duration.minutes(8)

const options = { proxied: false, durable: false, instances: upgrade.instances, seed: 1 }

layer(System.layer(options), { excludeTestServices: true, timeout: limit })(
  "two releases side by side",
  (it) => {
    it.effect.skipIf(!hasHistory)(
      "fail no request and lose no write, whichever replaces the other",
      () =>
        Effect.gen(function* () {
          const found = yield* report(upgrade, upgrade.short)
          expect(found.findings.described(5), line(found)).toEqual([])
          expect(isRight(found), line(found)).toBe(true)
        }),
      Duration.toMillis(limit)
    )
  }
)
