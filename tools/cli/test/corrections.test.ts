/** A CSV book with faults is corrected in rounds, until everything that is stored equals it. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { clientTenant } from "@data-import/local/test/clientTenant"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem } from "@data-import/local/test/wholeSystem"
import { environmentOf, user } from "./onlineCommand.ts"
import { importing } from "./sentBook.ts"

const map = {
  delimiter: ";",
  encoding: "windows-1252",
  constants: { "/unknown_occupier": true },
  columns: {
    Account: "/external_account_number",
    Balance: { to: "/transfer_balance", type: "decimal", point: "," }
  },
  ignore: ["Remark"]
}

const rows = [
  "Account;Remark;Balance",
  "A-1;fine;1,50",
  'A-2;"=1+1; faulty";2.50',
  "A-3;the number of another;3,50",
  "A-3;fine;4,50",
  "A-5;broken off",
  "A-6;fine;6,50"
]

interface Answer {
  readonly counts: Readonly<Record<string, number>>
  readonly lines: number
  readonly differences: number
}

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "corrections",
  (it) => {
    it.effect("lead from a faulty book to a clean reconcile in three rounds", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const book = home.write("book.csv", rows.join("\r\n"))
        const mapped = ["--map", home.write("map.json", JSON.stringify(map))]
        const [first, second, third] = ["1-corrected.csv", "2-corrected.csv", "3.csv"].map(
          home.path
        ) as [string, string, string]
        const edit = (name: string, ...edits: ReadonlyArray<readonly [string, string]>) =>
          home.write(
            name,
            edits.reduce((text, [from, to]) => text.replace(from, to), home.read(name))
          )

        const checked = yield* run("check", book, ...mapped, "-o", first)
        expect(checked.status).toBe(1)
        const [head, ...failed] = home.read("1-corrected.csv").trimEnd().split("\r\n")
        expect(head).toBe("\uFEFFAccount;Remark;Balance;data_import_row;data_import_errors")
        expect(failed).toEqual([
          expect.stringMatching(
            /^A-2;"=1\+1; faulty";2\.50;book\.csv:3;"Balance: .*must be a number/
          ),
          expect.stringMatching(/^A-3;fine;4,50;book\.csv:5;external_account_number: .* row 4/),
          expect.stringMatching(
            /^"A-5;broken off";;;book\.csv:6;.*it has 2 cells, and the header 3/
          )
        ])
        const again = yield* run("check", book, ...mapped, "-o", first)
        expect(again.err).toMatch(/1-corrected.csv exists, and may have corrections/)

        edit(
          "1-corrected.csv",
          ["2.50;", "2,5x;"],
          ["A-3;fine", "A-4;fine"],
          ['"A-5;broken off";;;', "A-5;broken off;5,50;"]
        )
        const once = [...mapped, "--corrections", first]
        const sent = yield* run(...importing(tenant, book), ...once, "--failed", second)
        expect(sent.out).toMatch(/: 6 lines = 5 succeeded \+ 0 already \+ 1 failed/)
        expect(sent.out).toMatch(/ transfer_balance +Balance +1-corrected\.csv:2 +"2,5x"/)
        expect(sent.out).toMatch(/^invalid_type: Correct the cell/m)
        expect(home.read("2-corrected.csv")).toMatch(
          /^A-2;"=1\+1; faulty";2,5x;1-corrected.csv:2;/m
        )

        edit("2-corrected.csv", ["2,5x", "2,50"])
        const twice = [...once, "--corrections", second]
        const resent = yield* run(...importing(tenant, book), ...twice, "--failed", third, "--json")
        expect(JSON.parse(resent.out)).toMatchObject({
          counts: { received: 6, succeeded: 1, already: 5, failed: 0 }
        })
        const supplier = ["--supplier", tenant.supplier]
        const reconciled = yield* run("reconcile", book, ...supplier, ...twice, "--json")
        const answer = JSON.parse(reconciled.out) as Answer
        expect(answer).toMatchObject({ lines: 6, differences: 0, sums: { difference: "0.00" } })
      }).pipe(Effect.scoped)
    )

    it.effect("of a book of several files are made in its files, until it reconciles", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const book = home.write("accounts.csv", "Account\nA-1\nA-2\n")
        home.write("notes.csv", "Acc,Text\nA-2,Two\nA-1,One\nA-3,Three\n")
        const several = {
          key: "Account",
          columns: { Account: "/external_account_number" },
          constants: { "/unknown_occupier": true },
          files: [{ file: "notes.csv", key: "Acc", list: "/notes", columns: { Text: "/body" } }]
        }
        const mapped = ["--map", home.write("map.json", JSON.stringify(several))]
        const failed = home.path("failed.ndjson")
        const sending = [...importing(tenant, book), ...mapped, "--failed", failed, "--json"]
        const sent = yield* run(...sending)
        expect(JSON.parse(sent.out)).toMatchObject({ counts: { succeeded: 2, failed: 1 } })
        expect(JSON.parse(home.read("failed.ndjson"))).toMatchObject({
          line: 3,
          file: "notes.csv",
          row: 4,
          error: { errors: [{ code: "row_without_account" }] }
        })
        const reconciling = ["reconcile", book, "--supplier", tenant.supplier, ...mapped]
        const differing = yield* run(...reconciling)
        expect(differing.status).toBe(1)
        expect(differing.out).toMatch(/notes.csv:4 +- +INVALID/)
        home.write("notes.csv", "Acc,Text\nA-1,One\nA-2,Two\n")
        expect(JSON.parse((yield* run(...sending)).out)).toMatchObject({ counts: { already: 2 } })
        expect(yield* run(...reconciling)).toMatchObject({ status: 0 })
      }).pipe(Effect.scoped)
    )
  }
)
