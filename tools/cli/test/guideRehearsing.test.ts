/** The commands of the guide to rehearsals do what it says, in its order. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { clientTenant, team } from "@data-import/local/test/clientTenant"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem } from "@data-import/local/test/wholeSystem"
import { environmentOf, user } from "./onlineCommand.ts"

const guide = readFileSync(join(import.meta.dirname, "../../../docs/guide/rehearsing.md"), "utf8")

const commands = [...guide.matchAll(/```sh shell\ndata-import ([^]*?)```/g)].map(([, text = ""]) =>
  [...text.replaceAll("\\\n", "").matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, word]) => quoted ?? word ?? ""
  )
)

const id = /[\da-f]{8}-[-\da-f]{27}/

const map = {
  constants: { "/unknown_occupier": true },
  columns: {
    Account: "/external_account_number",
    Balance: { to: "/transfer_balance", type: "decimal" }
  }
}

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "the guide to rehearsals",
  (it) => {
    it.effect("leads from a faulty book to an import that was forecast", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        home.write("columns.json", JSON.stringify(map))
        home.write("customers.csv", "Account,Balance\nA-1,1.50\nA-2,2.505\nA-3,3\n")
        let batch = ""
        const does = (words: ReadonlyArray<string> = []) =>
          Effect.map(
            run(
              ...words.map((word) => {
                if (/\.(csv|json)$/.test(word)) return home.path(word)
                if (id.test(word)) return batch
                return word.replace("DEMO_ENERGY", tenant.supplier).replace("Migration Team", team)
              })
            ),
            ({ out, status }) => ({ out, status })
          )
        const says = (status: number, out: RegExp) => ({
          status,
          out: expect.stringMatching(out) as string
        })
        const [rehearse, again, send, compared, staged] = commands
        const first = yield* does(rehearse)
        expect(first).toEqual(says(1, /2 would be created \+ 0 already \+ 1 would fail/))
        const corrected = home.read("1-corrected.csv").replace("2.505", "2.50")
        home.write("1-corrected.csv", corrected)
        const second = yield* does(again)
        expect(second).toEqual(says(0, /3 would be created.*0 would fail[^]*balance: 7\.00\n/))
        batch = id.exec(second.out)?.[0] ?? ""
        expect(yield* does(send)).toEqual(says(0, /3 lines = 3 succeeded/))
        // Changes are counted in the background.
        const shown = yield* Effect.repeat(does(compared), {
          until: ({ out }) => /CREATED +3\n/.test(out)
        })
        const sums = /accounts +3 +3\nbalance +7\.00 +7\.00\n/
        expect(shown).toEqual(says(0, /as predicted: 100\.00 %, 3 of 3 lines\n/))
        expect(shown).toEqual(says(0, sums))
        expect(shown).toEqual(says(0, /No surprises\./))
        expect(yield* does(staged)).toEqual(says(0, /lines: 0 lines/))
      }).pipe(Effect.scoped)
    )
  }
)
