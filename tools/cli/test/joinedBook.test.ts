/** A book of several CSV files: their rows become parts of the accounts that their keys name. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import fc from "fast-check"
import { bookFile } from "../book/BookFile.ts"
import { SortedRows } from "../book/SortedRows.ts"
import { checked, dataImport, folder } from "./commandLine.ts"

const map = {
  key: "Account",
  columns: {
    Account: "/external_account_number",
    Name: "/customers/0/family_name"
  },
  constants: { "/import_supplier": "ACME", "/ledgers/0/ledger_code": "ELECTRICITY" },
  files: [
    {
      file: "transactions.csv",
      key: "Acc",
      list: "/ledgers/0/current_statement_transactions",
      delimiter: ";",
      constants: { "/type": "PAYMENT" },
      columns: {
        Id: "/transaction_id",
        Day: { to: "/transaction_date", type: "date", format: "DD.MM.YYYY" },
        Amount: { to: "/amount", type: "decimal", point: "," }
      }
    },
    { file: "notes.csv", list: "/notes", columns: { Text: "/body" } }
  ]
}

const accounts = ["Account,Name", "A-1,Love", "A-2,King", "A-3,Hill"]
const transactions = [
  "Acc;Id;Day;Amount",
  "A-3;T-1;01.02.2025;1,50",
  "A-1;T-2;02.02.2025;2,50",
  "A-3;T-3;03.02.2025;3,50"
]
const notes = ["Account,Text", "A-3,First", "A-1,Only"]

const arrange = Effect.fnUntraced(function* (
  changes: Readonly<Record<string, ReadonlyArray<string>>> = {}
) {
  const files = yield* folder
  const contents = { "transactions.csv": transactions, "notes.csv": notes, ...changes }
  for (const [name, rows] of Object.entries(contents)) files.write(name, `${rows.join("\n")}\n`)
  const book = files.write("accounts.csv", accounts.join("\n"))
  return { files, book, map: files.write("map.json", JSON.stringify(map)) }
})

/** The accounts of a book, read as often as commands do. */
const accountsOf = Effect.fnUntraced(function* (book: string, columns: string) {
  const words = { book, map: Option.some(columns), corrections: [], lastWins: false }
  const file = yield* bookFile(words)
  const read = Effect.flatMap(file.open, (opened) =>
    Effect.promise(async () => {
      const blocks = await Array.fromAsync(opened.blocks())
      return blocks
        .flatMap(({ bytes }) => new TextDecoder().decode(bytes).trimEnd().split("\n"))
        .map((line) => JSON.parse(line) as unknown)
    })
  )
  const [first, second] = [yield* read, yield* read]
  expect(second).toEqual(first)
  return first
}, Effect.scoped)

describe("a book of several files", () => {
  it.effect("has the rows of each account in their order, and constants beside them", () =>
    Effect.gen(function* () {
      const { book, map: columns } = yield* arrange()
      const transaction = (id: string, day: string, amount: string) => ({
        transaction_id: id,
        transaction_date: day,
        amount,
        type: "PAYMENT"
      })
      const account = (number: string, family_name: string) => ({
        import_supplier: "ACME",
        external_account_number: number,
        customers: [{ family_name }]
      })
      const ledger = (...current_statement_transactions: ReadonlyArray<object>) => [
        { ledger_code: "ELECTRICITY", current_statement_transactions }
      ]
      expect(yield* accountsOf(book, columns)).toEqual([
        {
          ...account("A-1", "Love"),
          ledgers: ledger(transaction("T-2", "2025-02-02", "2.50")),
          notes: [{ body: "Only" }]
        },
        account("A-2", "King"),
        {
          ...account("A-3", "Hill"),
          ledgers: ledger(
            transaction("T-1", "2025-02-01", "1.50"),
            transaction("T-3", "2025-02-03", "3.50")
          ),
          notes: [{ body: "First" }]
        }
      ])
      expect((yield* checked(book, "--map", columns)).status).toBe(0)
    })
  )

  it.effect("names file, row and column of errors, and rows without an account", () =>
    Effect.gen(function* () {
      const {
        book,
        files,
        map: columns
      } = yield* arrange({
        "transactions.csv": [...transactions, "A-1;T-4;04.02.2025;1.5", "A-9;T-5;;", "A-2;T-6"]
      })
      const outputs = ["r.csv", "r.ndjson", "r.html", "corrected.csv"].map(files.path)
      const flags = outputs.flatMap((file) => ["--output", file])
      const { answer, status } = yield* checked(book, "--map", columns, ...flags)
      expect(status).toBe(1)
      expect(answer).toMatchObject({ lines: 4, failed_lines: 3 })
      const examples = answer.problems.map(({ code, examples: [first] }) => ({ code, ...first }))
      const list = "transactions.csv"
      expect(examples).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            code: "invalid_type",
            column: "Amount",
            place: `${list}:5`,
            row: 2,
            value: '"1.5"'
          }),
          expect.objectContaining({
            code: "row_without_account",
            place: `${list}:6`,
            detail: 'The row belongs to no account: no account has the key "A-9".'
          }),
          expect.objectContaining({
            code: "malformed_row",
            place: `${list}:7`,
            value: '"A-2;T-6"',
            detail: "The row is malformed: it has 2 cells, and the header 4."
          })
        ])
      )
      expect(files.read("r.csv")).toMatch(
        /\n1,transactions.csv:5,A-1,ledgers.0.current_statement_transactions.1.amount,Amount,/
      )
      expect(files.read("r.ndjson")).toContain('"row":6,"file":"transactions.csv"')
      expect(files.read("r.html")).toContain("transactions.csv:6")
      const [, ...corrected] = files.read("corrected.csv").trimEnd().split("\r\n")
      expect(corrected).toEqual([
        expect.stringMatching(/^A-1,Love,accounts.csv:2,"transactions.csv:5 Amount: ""1.5"" must/),
        expect.stringMatching(/^A-2,King,accounts.csv:3,/)
      ])
      const text = yield* dataImport("check", book, "--map", columns)
      expect(text.out).toMatch(/row_without_account +non_field_errors +- +transactions.csv:6 /)
      const preview = yield* dataImport("map", "preview", book, "--map", columns)
      expect(preview.out).toMatch(/invalid_type at transactions.csv:5, ledgers.0.*\.1\.amount: "1/)
    })
  )

  it.effect("takes corrections of its accounts, which keep their rows", () =>
    Effect.gen(function* () {
      const { book, files, map: columns } = yield* arrange()
      const corrections = files.write("corrected.csv", "Name,Account\nKaiser,A-3\n")
      const report = files.path("r.ndjson")
      const args = ["check", book, "--map", columns, "--corrections", corrections, "-o", report]
      expect(yield* dataImport(...args)).toMatchObject({ status: 0 })
      files.write("transactions.csv", "Acc;Id;Day;Amount\nA-3;T-1;01.02.2025;x\n")
      expect(yield* dataImport(...args)).toMatchObject({ status: 1 })
      expect(JSON.parse(files.read("r.ndjson"))).toMatchObject({
        external_account_number: "A-3",
        error: { errors: [{ file: "transactions.csv", row: 2, column: "Amount" }] }
      })
    })
  )

  it.effect.each([
    ["no key", { ...map, key: undefined }, /"files" needs "key"/],
    ["a key that no column is", { ...map, key: "Number" }, /header has no column "Number"/],
    [
      "a list that a column fills",
      { ...map, columns: { ...map.columns, Name: "/notes/0/body" } },
      /\/notes and \/notes\/0\/body fill/
    ],
    ["a missing file", { ...map, files: [{ ...map.files[1], file: "x.csv" }] }, /read .*x\.csv/]
  ] as const)("is refused for %s", ([, mapping, reason]) =>
    Effect.gen(function* () {
      const { book, files } = yield* arrange()
      const columns = files.write("map.json", JSON.stringify(mapping))
      const { err, status } = yield* dataImport("check", book, "--map", columns)
      expect(status).toBe(2)
      expect(err).toMatch(reason)
    })
  )

  it.effect("is not written over", () =>
    Effect.gen(function* () {
      const { book, files, map: columns } = yield* arrange()
      const output = files.path("notes.csv")
      const { err } = yield* dataImport("check", book, "--map", columns, "-o", output)
      expect(err).toMatch(/would destroy .*notes.csv/)
    })
  )
})

describe("sorted rows", () => {
  it("come by account, those of one account in the order in which they were added", () => {
    const rows = fc.array(fc.record({ account: fc.nat(9), text: fc.json() }))
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 2_000 }), (added, length) => {
        const sorted = new SortedRows(length)
        const all = added.map((row, index) => ({ ...row, row: index }))
        for (const row of all) sorted.add(row)
        sorted.finish()
        const reader = sorted.reader()
        const read = Array.from({ length: 10 }, (_, account) => [...reader.take(account)]).flat()
        sorted.close()
        expect(read).toEqual(all.toSorted((one, other) => one.account - other.account))
      })
    )
  })
})
