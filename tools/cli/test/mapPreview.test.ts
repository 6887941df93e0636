/** A preview shows a row, what the map makes of it, and its errors. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { dataImport, folder } from "./commandLine.ts"

const map = {
  constants: { "/import_supplier": "ACME" },
  columns: {
    Number: "/external_account_number",
    Name: "/customers/0/family_name",
    Balance: { to: ["/transfer_balance", "/ledgers/0/ledger_balance"], type: "decimal" }
  },
  ignore: ["Remark"]
}

const arrange = Effect.fnUntraced(function* (...rows: ReadonlyArray<string>) {
  const files = yield* folder
  const book = files.write("book.csv", ["Number,Name,Balance,Remark", ...rows].join("\n"))
  const args = ["map", "preview", book, "--map", files.write("map.json", JSON.stringify(map))]
  return { files, args, book }
})

describe("map preview", () => {
  it.effect("shows cells, fields and errors of a row side by side, and the account", () =>
    Effect.gen(function* () {
      const { args } = yield* arrange("A-1,Love,1,x", "", "A-2,,1,5,x", 'A-3,Love,"1,5",x')
      const { out, status } = yield* dataImport(...args, "--row", "5")
      expect(status).toBe(0)
      expect(out.replaceAll(/ +/g, " ").split("\n")).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^Row 5 of .*book.csv fails.$/),
          "column cell field value error",
          'Name Love customers.0.family_name "Love"',
          expect.stringMatching(
            /^Balance 1,5 transfer_balance "1,5" must be a number like 1234.56/
          ),
          expect.stringMatching(/^ ledgers.0.ledger_balance "1,5" must be/),
          "Remark x ignored",
          expect.stringMatching(/^required at ledgers.0.ledger_code: /),
          ' "external_account_number": "A-3",'
        ])
      )
      const malformed = yield* dataImport(...args, "--row", "4", "--json")
      expect(JSON.parse(malformed.out)).toMatchObject({
        is_valid: false,
        account: null,
        errors: [{ code: "malformed_row", detail: expect.stringMatching(/it has 5 cells/) }]
      })
      const none = yield* dataImport(...args, "--row", "3")
      expect(none).toMatchObject({ status: 2, err: expect.stringMatching(/has no row 3 with an/) })
    })
  )

  it.effect("writes a page with links from row to row, without a script, and escaped", () =>
    Effect.gen(function* () {
      const valid = Array.from({ length: 150 }, (_, index) => `A-${index},Love,,<script>`)
      const { args, files } = yield* arrange(...valid, "A-150,Love,1,", "A-151,Love,,")
      const page = files.path("preview.html")
      const { out, status } = yield* dataImport(...args, "--output", page)
      expect({ out, status }).toMatchObject({ status: 0, out: expect.stringMatching(/101 rows/) })
      const text = files.read("preview.html")
      expect(text).toMatch(/152 rows, of which 1 fail; 101 are shown/)
      expect(text).toContain("default-src 'none'")
      expect(text).not.toMatch(/<script|href="(?!#)|src=/)
      const targets = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => `id="${id}"`)
      expect(targets).toContain('id="row-152"')
      for (const target of new Set(targets)) expect(text).toContain(target)
      const over = yield* dataImport(...args, "--output", "preview.txt")
      expect(over).toMatchObject({ status: 2, err: expect.stringMatching(/ends in .html/) })
    })
  )
})
