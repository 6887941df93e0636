/** A CSV book is checked row by row, and each error names its column. */
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { checked, dataImport, folder } from "./commandLine.ts"

const map = {
  delimiter: ";",
  constants: { "/import_supplier": "ACME", "/account_type": "DOMESTIC" },
  columns: {
    Number: "/external_account_number",
    Name: "/customers/0/family_name",
    "E-mail": "/customers/0/email",
    "Second name": "/customers/1/family_name",
    Sold: { to: "/date_of_sale", type: "date", format: "DD.MM.YYYY" },
    Balance: { to: "/transfer_balance", type: "decimal", point: ",", group: "." },
    Empty: { to: "/unknown_occupier", type: "boolean", true: "ja", false: "nein" },
    Day: { to: "/account_billing_options/period_start_day", type: "integer" }
  },
  ignore: ["Remark"]
}

const header = "Number;Name;E-mail;Second name;Sold;Balance;Empty;Day;Remark"
const valid = "A-1;Love;ada@example.com;;31.1.2025;-1.234,50;nein;;=1+1"

const csv = (...rows: ReadonlyArray<string>): string =>
  `\uFEFF${[header, ...rows].join("\r\n")}\r\n`

const arrange = Effect.fnUntraced(function* (content: string | Uint8Array, mapping: object = map) {
  const files = yield* folder
  const name = files.write("book.csv", content)
  const args = [name, "--map", files.write("map.json", JSON.stringify(mapping))]
  return { files, args }
})

describe("a CSV book", () => {
  it.effect("is valid if its rows are", () =>
    Effect.gen(function* () {
      const second = 'A-2;"O""Neil; ""x""\r\nsecond line";;;2025-01-31;0,07;;;'
      for (const pack of [(text: string) => text, gzipSync]) {
        const { args } = yield* arrange(pack(csv(valid, "", second)))
        const { answer, status } = yield* checked(...args)
        expect({ status, answer }).toMatchObject({
          status: 0,
          answer: { lines: 2, import_supplier: "ACME", problems: [] }
        })
      }
    })
  )

  it.effect("names row and column of each error", () =>
    Effect.gen(function* () {
      const rows = [valid, "", "A-2;Love;nobody;;31.2.2025;12.50;maybe;1,5;", ";;;;;1,234;;05;"]
      const { args, files } = yield* arrange(csv(...rows))
      const reports = ["-o", files.path("r.csv"), "-o", files.path("r.ndjson")]
      const { status } = yield* checked(...args, ...reports)
      expect(status).toBe(1)
      const cells = files.read("r.csv").trimEnd().split("\r\n")
      expect(cells.map((row) => row.split(",").slice(0, 6).join())).toEqual([
        "\uFEFFline,row,external_account_number,path,column,code",
        "2,4,A-2,customers.0.email,E-mail,invalid_email",
        "2,4,A-2,date_of_sale,Sold,invalid_date",
        "2,4,A-2,transfer_balance,Balance,invalid",
        "2,4,A-2,unknown_occupier,Empty,invalid_type",
        "2,4,A-2,account_billing_options.period_start_day,Day,invalid_type",
        "2,4,A-2,account_billing_options,,account_billing_options_period_data_required",
        "3,5,,transfer_balance,Balance,max_decimal_places",
        "3,5,,account_billing_options,,account_billing_options_period_data_required",
        "3,5,,external_account_number,Number,required",
        "3,5,,customers,,required"
      ])
      expect(JSON.parse(files.read("r.ndjson").split("\n")[1] ?? "")).toMatchObject({
        line: 3,
        row: 5,
        error: { errors: [{ attr: "transfer_balance", column: "Balance" }, {}, {}, {}] }
      })
      const { out } = yield* dataImport("check", ...args)
      expect(out).toMatch(/column +example_rows/)
      expect(out).toMatch(/invalid_email +customers\.\*\.email +E-mail +4/)
    })
  )

  it.effect("reports a group of columns that is left out before another one", () =>
    Effect.gen(function* () {
      const { args } = yield* arrange(csv("A-1;;;Love;;;;;"))
      const { answer } = yield* checked(...args)
      expect(answer.problems).toMatchObject([{ code: "null", attr: "customers.*" }])
    })
  )

  it.effect("is read in its encoding", () =>
    Effect.gen(function* () {
      const latin = Buffer.from(csv("A-1;Müller;;;;;;;").slice(1), "latin1")
      const { args } = yield* arrange(latin, { ...map, encoding: "windows-1252" })
      expect((yield* checked(...args)).status).toBe(0)
      const wrong = yield* arrange(latin)
      const { err, status } = yield* dataImport("check", ...wrong.args)
      expect({ status, err }).toEqual({
        status: 2,
        err: expect.stringMatching(/Cannot read .*utf-8/)
      })
    })
  )

  it.effect.each([
    ["a column that is not mapped", csv().replace("Remark", "Other"), /ignores the column "Other"/],
    ["a column that is missing", csv().replace(";Day", ""), /no column "Day"/],
    ["a column that stands twice", csv().replace("Day", "Name"), /"Name" stands twice/],
    ["a row that is too long", csv(valid, `${valid};;`), /row 3 has 11 cells, and the header 9/],
    ["a quote that does not end", csv(valid, '"A-2'), /Cannot read .*Quote/]
  ] as const)("is refused for %s", ([, content, reason]) =>
    Effect.gen(function* () {
      const { args } = yield* arrange(content)
      const { err, status } = yield* dataImport("check", ...args)
      expect(status).toBe(2)
      expect(err).toMatch(reason)
    })
  )

  it.effect("needs a map", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const { err, status } = yield* dataImport("check", files.write("b.CSV", csv(valid)))
      expect(status).toBe(2)
      expect(err).toMatch(/--map tells which column/)
    })
  )
})

describe("a map", () => {
  const columns = (mapped: object) => ({ ...map, columns: mapped })

  it.effect.each([
    ["a target that is no pointer", columns({ A: "customers" }), /JSON Pointer/],
    ["two columns of one field", columns({ A: "/a", B: "/a" }), /\/a and \/a fill the same/],
    ["a field and a part of it", columns({ A: "/a", B: "/a/b" }), /\/a and \/a\/b fill/],
    ["a list that is an object", columns({ A: "/a/0", B: "/a/b" }), /a is a list or an object/],
    ["a large index", columns({ A: "/a/1000" }), /index greater than 999/],
    ["a date format without a year", columns({ A: { to: "/a", format: "DD.MM" } }), /YYYY, MM/],
    ["an unknown member", { ...map, colums: {} }, /colums/],
    ["a delimiter of two characters", { ...map, delimiter: ";;" }, /one character/]
  ] as const)("is refused for %s", ([, mapping, reason]) =>
    Effect.gen(function* () {
      const { args } = yield* arrange(csv(valid), mapping)
      const { err, status } = yield* dataImport("check", ...args)
      expect(status).toBe(2)
      expect(err).toMatch(reason)
    })
  )
})
