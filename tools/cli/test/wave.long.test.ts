/** A wave with wrong signs is taken back, corrected, imported again and certified. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { clientTenant } from "@data-import/local/test/clientTenant"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem } from "@data-import/local/test/wholeSystem"
import { environmentOf, user } from "./onlineCommand.ts"
import { importing } from "./sentBook.ts"

const accounts = 2_000
const wrong = 100

/** Accounts that owe a pound, of which the first ones have the wrong sign. */
const bookWith = (wrongSigns: number): string =>
  Array.from({ length: accounts }, (_, index) =>
    JSON.stringify({
      external_account_number: `W-${String(index).padStart(4, "0")}`,
      unknown_occupier: true,
      transfer_balance: index < wrongSigns ? "-1.00" : "1.00"
    })
  ).join("\n")

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "a wave with wrong signs",
  (it) => {
    it.effect(
      "is taken back, imported again, and proved against the corrected book",
      () =>
        Effect.gen(function* () {
          const tenant = yield* clientTenant()
          const { home, run } = yield* user(environmentOf(tenant))
          const send = (book: string) => run(...importing(tenant, book), "--cohort", "wave-3")
          const counted = new RegExp(`${accounts.toLocaleString("en-GB")} succeeded`)
          const first = home.write("first.ndjson", bookWith(wrong))
          const corrected = home.write("corrected.ndjson", bookWith(0))
          expect((yield* send(first)).out).toMatch(counted)
          const refused = yield* send(corrected)
          expect(refused.status).toBe(1)
          const why = ["--reason", "Wrong sign", "--yes", "--json"]
          const wave = ["batch", "revert", tenant.supplier, "--cohort", "wave-3"]
          const { batch_id } = JSON.parse((yield* run(...wave, ...why)).out) as { batch_id: string }
          const reverted = yield* run("batch", "watch", batch_id, "--json")
          expect(JSON.parse(reverted.out)).toMatchObject({ counts: { succeeded: accounts } })
          expect((yield* send(corrected)).out).toMatch(counted)
          const issued = yield* run("certificate", "issue", tenant.supplier, "--json")
          const { jws } = JSON.parse(issued.out) as { readonly jws: string }
          const published = fetch(`${tenant.baseUrl}/.well-known/certificate-keys.json`)
          const keys = yield* Effect.promise(async () => (await published).text())
          const against = (book: string) =>
            run(
              ...["certify", book, "--supplier", tenant.supplier],
              ...["--against", home.write("wave.jws", jws), "--keys", home.write("keys.json", keys)]
            )
          expect((yield* against(corrected)).out).toMatch(/^Proved: the 2,?000 accounts/m)
          expect(yield* against(first)).toMatchObject({ status: 1 })
        }).pipe(Effect.scoped),
      300_000
    )
  }
)
