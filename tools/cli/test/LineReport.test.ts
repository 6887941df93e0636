/** Reports of lines hold every error, and nothing that a spreadsheet computes. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { account, book, dataImport, folder } from "./commandLine.ts"

describe("reports", () => {
  it.effect("have a row for each error, and a result for each failed line", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const wrong = account({
        external_account_number: "=HYPERLINK(1)",
        transfer_balance: 12.345,
        "customers.0.landline": "123"
      })
      const name = files.write("book.ndjson", book(account(), wrong, "[]"))
      const args = ["--output", files.path("p.csv"), "-o", files.path("p.ndjson")]
      expect((yield* dataImport("check", name, ...args)).status).toBe(1)
      const [head, ...rows] = files.read("p.csv").replace("\uFEFF", "").split("\r\n")
      expect(head).toMatch(/^line,external_account_number,path,code,value,actual,limit,/)
      expect(rows.map((row) => row.split(",").slice(0, 6))).toEqual([
        ["2", "'=HYPERLINK(1)", "customers.0.landline", "invalid_phone_number", '"""123"""', ""],
        ["2", "'=HYPERLINK(1)", "transfer_balance", "max_decimal_places", "12.345", "3"],
        ["3", "", "payload", "not_an_object", "", ""],
        [""]
      ])
      const results = files.read("p.ndjson").trimEnd().split("\n")
      expect(results.map((line): unknown => JSON.parse(line))).toMatchObject([
        {
          line: 2,
          external_account_number: "=HYPERLINK(1)",
          outcome: "FAILED",
          status: 400,
          error: { code: "account_failed_validation" }
        },
        { line: 3, external_account_number: null }
      ])
    })
  )

  it.effect("are not there if the check was not carried out", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const name = files.write("book.gz", new Uint8Array([0x1f, 0x8b, 0, 0, 0, 0, 0, 0]))
      const { status } = yield* dataImport("check", name, "--output", files.path("p.csv"))
      expect(status).toBe(2)
      expect(() => files.read("p.csv")).toThrow(/ENOENT/)
      expect(() => files.read("p.csv.part")).toThrow(/ENOENT/)
    })
  )

  it.effect("are refused before the work where they cannot be written", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const name = files.write("book.ndjson", book(account()))
      const { err, status } = yield* dataImport("check", name, "-o", files.path("no/p.csv"))
      expect(status).toBe(2)
      expect(err).toMatch(/Cannot write .*no\/p.csv/)
    })
  )
})
