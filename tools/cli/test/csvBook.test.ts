/** A CSV book is checked row by row, and each error names its column. */
import { Readable } from "node:stream"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { type ColumnMap, readColumnMap } from "../book/ColumnMap.ts"
import { csvBlocks } from "../book/CsvBook.ts"
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

interface Result {
  readonly row: number
  readonly error: {
    readonly errors: ReadonlyArray<Readonly<Record<"attr" | "code" | "column" | "value", string>>>
  }
}

/** The accounts of a book. */
const linesOf = async (text: string, columns: ColumnMap) => {
  const blocks = await Array.fromAsync(csvBlocks(Readable.from([Buffer.from(text)]), columns))
  const lines = blocks.flatMap(({ bytes }) => new TextDecoder().decode(bytes).trimEnd().split("\n"))
  return lines.map((line): unknown => JSON.parse(line))
}

const arrange = Effect.fnUntraced(function* (content: string | Uint8Array, mapping: object = map) {
  const files = yield* folder
  const name = files.write("book.csv", content)
  const args = [name, "--map", files.write("map.json", JSON.stringify(mapping))]
  return { files, args }
})

describe("a CSV book", () => {
  it.effect("is valid if its rows are", () =>
    Effect.gen(function* () {
      const second = 'A-2;"O""Neil; ""x""\r\nsecond line";;;31.01.2025;0,07;;;'
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

  it.effect("names row, column and value of each error, and the form that the map states", () =>
    Effect.gen(function* () {
      const rows = [valid, "", "A-2;Love;nobody;;31.2.2025;12.50;maybe;1,5;", ";;;;;1,234;;05;"]
      const { args, files } = yield* arrange(csv(...rows))
      const reports = ["-o", files.path("r.csv"), "-o", files.path("r.ndjson")]
      const { status } = yield* checked(...args, ...reports)
      expect(status).toBe(1)
      const results = files.read("r.ndjson").trimEnd().split("\n")
      const found = results.flatMap((text) => {
        const { error, row } = JSON.parse(text) as Result
        return error.errors.map(({ attr, code, column, value }) => [row, attr, column, code, value])
      })
      const billing = "account_billing_options"
      expect(found).toEqual([
        [4, "customers.0.email", "E-mail", "invalid_email", '"nobody"'],
        [4, "date_of_sale", "Sold", "invalid_type", '"31.2.2025"'],
        [4, "transfer_balance", "Balance", "invalid_type", '"12.50"'],
        [4, "unknown_occupier", "Empty", "invalid_type", '"maybe"'],
        [4, `${billing}.period_start_day`, "Day", "invalid_type", '"1,5"'],
        [4, billing, undefined, `${billing}_period_data_required`, expect.any(String)],
        [5, "transfer_balance", "Balance", "max_decimal_places", '"1,234"'],
        [5, billing, undefined, `${billing}_period_data_required`, '{"period_start_day":5}'],
        [5, "external_account_number", "Number", "required", undefined],
        [5, "customers", undefined, "required", undefined]
      ])
      expect(results[0]).toContain(
        'must be a number like 1.234,56, with \\",\\" before the fraction and \\".\\" between groups'
      )
      expect(results[0]).toContain('\\"nobody\\" must be')
      const [head, first] = files.read("r.csv").split("\r\n")
      expect(head).toMatch(/^\uFEFFline,row,external_account_number,path,column,code,value,/)
      expect(first).toMatch(/^2,4,A-2,customers.0.email,E-mail,invalid_email,"""nobody""",/)
      const { out } = yield* dataImport("check", ...args)
      expect(out).toMatch(/column +example_rows +example\n/)
      expect(out).toMatch(/invalid_type: Correct the cell, or what the map says of its column/)
      expect(out).toMatch(/invalid_email +customers\.\*\.email +E-mail +4 +"nobody"/)
    })
  )

  it.effect("fails malformed rows alone, with their numbers", () =>
    Effect.gen(function* () {
      const wrong = 'A-2;"Love;;;;;;;'
      const short = "A-3;Love"
      const long = `${valid};x`
      const latin = Buffer.from("A-4;M\xfcller;;;;;;;\r\n", "latin1")
      const padded = `${valid.replace("A-1", "A-5")};;`
      const text = csv(valid, wrong, short, long)
      const bytes = Buffer.concat([Buffer.from(text), latin, Buffer.from(padded)])
      const { args } = yield* arrange(bytes)
      const { answer } = yield* checked(...args)
      expect(answer).toMatchObject({ lines: 6, failed_lines: 4 })
      expect(answer.problems).toMatchObject([{ code: "malformed_row", lines: 4 }])
      const examples = answer.problems[0]?.examples ?? []
      expect(examples).toMatchObject([3, 4, 5, 6].map((row) => ({ row })))
      expect(examples.map(({ detail }) => detail)).toEqual([
        expect.stringMatching(/a quote is not closed/),
        expect.stringMatching(/it has 2 cells, and the header 9/),
        expect.stringMatching(/it has 10 cells, and the header 9/),
        expect.stringMatching(/no character of utf-8/)
      ])
    })
  )

  it.effect("shows the cells whose sign the map reverses in errors of sums", () =>
    Effect.gen(function* () {
      const debt = { type: "decimal", point: ",", negate: true }
      const columns = {
        Number: "/external_account_number",
        Name: "/customers/0/family_name",
        Gas: { to: "/ledgers/0/last_statement_balance", ...debt },
        Total: { to: "/transfer_balance", ...debt }
      }
      const text = "Number;Name;Gas;Total\nA-1;Love;215,45;215,46\n"
      const constants = { "/ledgers/0/ledger_code": "GAS" }
      const { args } = yield* arrange(text, { delimiter: ";", columns, constants })
      const { answer } = yield* checked(...args)
      expect(answer.problems[0]?.examples).toMatchObject([
        {
          column: "Total",
          value: '"215,46"',
          detail: expect.stringMatching(
            /-215\.46.* before the map reverses signs: "Gas" is "215,45", "Total" is "215,46"\.$/
          )
        }
      ])
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
      const marked = yield* arrange(Buffer.from(csv(valid), "utf16le"))
      expect((yield* checked(...marked.args)).status).toBe(0)
      const wrong = yield* arrange(
        Buffer.from(csv(valid).slice(1).replace("Day", "T\xfcr"), "latin1")
      )
      const { err, status } = yield* dataImport("check", ...wrong.args)
      expect({ status, err }).toEqual({
        status: 2,
        err: expect.stringMatching(/the header is not in utf-8.*spreadsheet may have saved/)
      })
      const commas = yield* arrange(csv(valid), { ...map, delimiter: "," })
      const { err: oneCell } = yield* dataImport("check", ...commas.args)
      expect(oneCell).toMatch(/one cell with ";" in it\. A spreadsheet.*"delimiter": ";"/)
    })
  )

  it.effect("may name its delimiter, and have columns that are ignored or have no name", () =>
    Effect.gen(function* () {
      const head = header.replaceAll(";", "|")
      const row = valid.replaceAll(";", "|")
      const content = `sep=|\r\n ${head}|Remark||\r\n${row}|x||\r\n${row}||x|\r\n`
      const { args } = yield* arrange(content, { ...map, ignore: [" Remark "] })
      const { answer } = yield* checked(...args)
      expect(answer).toMatchObject({
        lines: 2,
        failed_lines: 1,
        problems: [{ examples: [{ row: 3 }] }]
      })
    })
  )

  it.effect("is refused for its header, with everything that does not fit", () =>
    Effect.gen(function* () {
      const { args } = yield* arrange("Number;Name;Other;Name;More\r\n")
      const { err, status } = yield* dataImport("check", ...args)
      expect(status).toBe(2)
      expect(err).toContain(
        'no column "E-mail", "Second name", "Sold", "Balance", "Empty", "Day"; '
      )
      expect(err).toContain('the same name: "Name" (column 2), "Name" (column 4); ')
      expect(err).toContain('neither maps nor ignores "Other" (column 3), "More" (column 5).')
    })
  )

  it.effect("has joined texts, and constants and defaults beside other values of their group", () =>
    Effect.gen(function* () {
      const mapping = {
        joins: [{ to: "/customers/0/family_name", columns: ["Middle", "Last"], separator: "-" }],
        columns: {
          Number: "/external_account_number",
          First: { to: "/customers/0/given_name", default: "A." },
          Phone: { to: "/customers/0/mobile", type: "phone", country: "GB" },
          Kind: { to: "/account_type", values: { DOM: "DOMESTIC" }, default: "DOMESTIC" },
          Gas: {
            to: ["/ledgers/1/ledger_balance", "/ledgers/1/last_statement_balance"],
            type: "decimal"
          }
        },
        constants: {
          "/import_supplier": "ACME",
          "/notes/0/body": "From the old system",
          "/ledgers/1/ledger_code": "GAS"
        }
      }
      const rows = [
        "Number,First,Middle,Last,Phone,Kind,Gas",
        "A-1,Ada,King,Love,07700 900123,DOM,",
        "A-2,,,Love,,,0.00"
      ]
      const parsed = yield* readColumnMap((yield* arrange("", mapping)).args[2] ?? "")
      const lines = yield* Effect.promise(() => linesOf(rows.join("\n"), parsed))
      const always = {
        import_supplier: "ACME",
        account_type: "DOMESTIC",
        notes: [{ body: "From the old system" }]
      }
      expect(lines).toEqual([
        {
          ...always,
          external_account_number: "A-1",
          customers: [{ given_name: "Ada", family_name: "King-Love", mobile: "+447700900123" }]
        },
        {
          ...always,
          external_account_number: "A-2",
          customers: [{ given_name: "A.", family_name: "Love" }],
          ledgers: [
            null,
            { ledger_code: "GAS", ledger_balance: "0.00", last_statement_balance: "0.00" }
          ]
        }
      ])
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
  const datetime = (how: object) => columns({ A: { to: "/a", type: "datetime", ...how } })

  it.effect.each([
    ["a target that is no pointer", columns({ A: "customers" }), /JSON Pointer/],
    ["two columns of one field", columns({ A: "/a", B: "/a" }), /\/a and \/a fill the same/],
    ["a field and a part of it", columns({ A: "/a", B: "/a/b" }), /\/a and \/a\/b fill/],
    ["a list that is an object", columns({ A: "/a/0", B: "/a/b" }), /a is a list or an object/],
    ["a large index", columns({ A: "/a/1000" }), /index greater than 999/],
    [
      "a date format without a year",
      columns({ A: { to: "/a", type: "date", format: "DD.MM" } }),
      /YYYY, MM/
    ],
    ["a time zone without a place", datetime({ time_zone: "BST" }), /time zone must be/],
    ["a country that is no code", columns({ A: { to: "/a", type: "phone", country: "UK" } }), /GB/],
    ["a member of another type", columns({ A: { to: "/a", negate: true } }), /belong to the type/],
    ["a point that is a group", columns({ A: { to: "/a", type: "decimal", group: "." } }), /same/],
    ["a join of no column", { ...map, joins: [{ to: "/a", columns: [] }] }, /columns/],
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

  it.effect("may begin with the mark of its encoding, of which UTF-16 is named", () =>
    Effect.gen(function* () {
      const { args, files } = yield* arrange(csv(valid))
      const text = `\uFEFF${JSON.stringify(map)}`
      files.write("map.json", text)
      expect((yield* checked(...args)).status).toBe(0)
      files.write("map.json", Buffer.from(text, "utf16le"))
      const { err } = yield* dataImport("check", ...args)
      expect(err).toMatch(/is written in utf-16le: save it as UTF-8/)
    })
  )
})
