/**
 * A book is checked offline as an uploaded batch would be.
 * Source: docs/contract/batches.md#upload, docs/contract/batches.md#results.
 */
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { account, book, checked, dataImport, folder, problemsIn } from "./commandLine.ts"

const oneWrong = { transfer_balance: 12.345 }
const twoWrong = { ...oneWrong, "customers.0.landline": "123" }

const bytesOf = (...parts: ReadonlyArray<string | number>): Uint8Array =>
  Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.of(part)))
  )

describe("check", () => {
  it.effect("succeeds on a valid book, and says what it did not check", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const name = files.write("book.ndjson", book(account(), account()))
      const { err, out, status } = yield* dataImport("check", name)
      expect({ status, err }).toEqual({ status: 0, err: "" })
      expect(out).toMatch(/2 lines: 2 valid, 0 failed/)
      expect(out).toMatch(/supplier is DEMO_ENERGY, the first that the book names/)
      expect(out).toMatch(/Not checked, .*supplier exists, .*documents are in the store/)
    })
  )

  it.effect("groups problems by code and place, with what fixing the first few clears", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const lines = [account(twoWrong), account(oneWrong), account(), account(oneWrong)]
      const name = files.write("book.ndjson", book(...lines))
      const { answer, status } = yield* checked(name)
      expect(status).toBe(1)
      expect(answer).toMatchObject({ lines: 4, valid_lines: 1, failed_lines: 3 })
      expect(problemsIn(answer)).toEqual([
        "3 max_decimal_places transfer_balance",
        "1 invalid_phone_number customers.*.landline"
      ])
      expect(answer.problems.map((problem) => problem.cleared_lines)).toEqual([2, 3])
      expect(answer.problems[0]?.examples.map(({ line }) => line)).toEqual([1, 2, 4])
      const { out } = yield* dataImport("check", name)
      expect(out).toMatch(/Fixing the first 2 problems clears 3 of 3 failed lines/)
      expect(out).toMatch(/invalid_phone_number: Send the number with a leading \+/)
    })
  )

  it.effect("fails single lines, with the codes of an upload", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const valid = account()
      const content = bytesOf(
        `${valid}\r\n`,
        "\n",
        `\uFEFF${valid}\n`,
        '{"a":"',
        0xff,
        '"}\n',
        "[]\n",
        `${valid.slice(0, -1)},"import_supplier":"DEMO_ENERGY"}\n`,
        "x\n",
        valid
      )
      const { answer } = yield* checked(files.write("book.ndjson", content))
      expect(answer).toMatchObject({ lines: 8, valid_lines: 2 })
      expect(problemsIn(answer)).toEqual([
        "5 parse_error non_field_errors",
        "1 not_an_object payload"
      ])
      expect(answer.problems[0]?.examples.map(({ detail }) => detail)).toEqual([
        expect.stringContaining("Not a JSON document"),
        expect.stringContaining("byte-order mark"),
        expect.stringContaining("not UTF-8"),
        expect.stringContaining('"import_supplier" is repeated'),
        expect.stringContaining("Not a JSON document")
      ])
    })
  )

  it.effect("fails a line that is too long, and continues after it", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const long = " ".repeat(10 * 1024 * 1024 + 1)
      const fits = account().padEnd(10 * 1024 * 1024, " ")
      const { answer } = yield* checked(
        files.write("book.ndjson", book(long, `${fits}\r`, account(oneWrong)))
      )
      expect(problemsIn(answer)).toEqual([
        "1 max_decimal_places transfer_balance",
        "1 payload_too_large non_field_errors"
      ])
      expect(answer.problems[0]?.examples[0]?.line).toBe(3)
    })
  )

  it.effect("refuses a line of another supplier than the book's", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const name = files.write(
        "book.ndjson",
        book(account({ import_supplier: undefined }), account(), account({ import_supplier: "B" }))
      )
      const first = yield* checked(name)
      expect(first.answer.import_supplier).toBe("DEMO_ENERGY")
      expect(problemsIn(first.answer)).toEqual(["1 invalid import_supplier"])
      const named = yield* checked(name, "--supplier", "B")
      expect(named.answer.problems[0]?.examples.map(({ line }) => line)).toEqual([2])
    })
  )

  it.effect("reads a packed book as it reads a plain one", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const content = book(account(twoWrong), account())
      const plain = yield* checked(files.write("book.ndjson", content))
      const packed = yield* checked(files.write("book.gz", gzipSync(content)))
      expect(packed.answer.problems).toEqual(plain.answer.problems)
      const cut = files.write("cut.gz", gzipSync(content).subarray(0, -20))
      const { err, status } = yield* dataImport("check", cut)
      expect({ status, err }).toEqual({
        status: 2,
        err: expect.stringMatching(/Cannot read .*cut/)
      })
    })
  )

  it.effect.each([
    ["book.ndjson", ""],
    ["blank.ndjson", "\n \r\n\n"],
    ["header.csv", "Number\r\n"]
  ] as const)("refuses the empty book %s", ([name, content]) =>
    Effect.gen(function* () {
      const files = yield* folder
      const map = files.write("map.json", '{"columns":{"Number":"/external_account_number"}}')
      const args = name.endsWith(".csv") ? ["--map", map] : []
      const { err, status } = yield* dataImport("check", files.write(name, content), ...args)
      expect({ status, err }).toEqual({ status: 2, err: expect.stringMatching(/is empty: it has/) })
    })
  )

  it.effect("reads wrapped lines and several members of gzip, and no empty lines at the end", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const wrapped = `{"payload":${account()},"cohort":"w1"}`
      const content = Buffer.concat([gzipSync(book(wrapped)), gzipSync(book(account(), "", " \r"))])
      const { answer, status } = yield* checked(files.write("book.gz", content))
      expect(answer).toMatchObject({ lines: 2, problems: [] })
      expect(status).toBe(0)
    })
  )

  it.effect("fails a number that an earlier line has, unless the line is the same", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const first = account({ external_account_number: "A-1" })
      const other = account({ external_account_number: "A-1", billing_name: "Other" })
      const name = files.write("book.ndjson", book(first, account(), other, first))
      const report = files.path("r.csv")
      const { answer, status } = yield* checked(name, "-o", report)
      expect({ status, problems: problemsIn(answer) }).toEqual({
        status: 1,
        problems: ["1 repeated_number external_account_number"]
      })
      const example = { line: 3, value: '"A-1"', detail: expect.stringMatching(/that of line 1/) }
      expect(answer.problems[0]?.examples).toMatchObject([example])
      expect(files.read("r.csv")).toMatch(/^3,A-1,.*repeated_number.*,REPEATED\r$/m)
      const last = yield* checked(name, "--last-wins")
      expect(last).toMatchObject({
        status: 0,
        answer: { lines: 2, dropped_lines: 2, failed_lines: 0 }
      })
    })
  )

  it.effect("warns of values that are probably not meant, and does not fail for them", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const values = {
        billing_name: "Ada\nLove",
        "customers.0.given_name": "NULL",
        "customers.0.family_name": "Lo\u200bve",
        "notes.0.body": "#REF!",
        "notes.1.body": "1.23E+05"
      }
      const name = files.write("book.ndjson", book(account(values), account()))
      const reports = ["w.html", "w.csv", "w.ndjson"].map((file) => files.path(file))
      const { answer, status } = yield* checked(name, ...reports.flatMap((file) => ["-o", file]))
      expect({ status, problems: answer.problems }).toEqual({ status: 0, problems: [] })
      expect(answer.warned_lines).toBe(1)
      const codes = ["empty_word", "invisible_characters", "line_break_in_name"]
      const all = [...codes, "spreadsheet_error", "spreadsheet_number"]
      expect(answer.warnings.map(({ code }) => code)).toEqual(all)
      for (const file of ["w.html", "w.csv", "w.ndjson"]) {
        for (const code of all) expect(files.read(file)).toContain(code)
      }
    })
  )

  it.effect("says that the balances of a book would pass with the other sign", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const lines = [1, 2, 3].map(() => account({ transfer_balance: "-50.00" }))
      const { answer } = yield* checked(files.write("book.ndjson", book(...lines, account())))
      expect(answer.notes[0]).toMatch(
        /^3 of 4 lines fail ledger_balances_not_equal.*; 3 would pass with the sign of transfer_balance/
      )
    })
  )

  it.effect("gives the same answer with any number of threads", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const lines = Array.from({ length: 2_500 }, (_, n) => (n % 7 === 0 ? "{}" : "[]"))
      const name = files.write("book.ndjson", book(...lines))
      const reports = yield* Effect.forEach([1, 3], (threads) =>
        Effect.gen(function* () {
          const report = files.path(`${threads}.ndjson`)
          yield* checked(name, "--threads", String(threads), "--output", report)
          return files.read(`${threads}.ndjson`)
        })
      )
      expect(reports[0]?.split("\n")).toHaveLength(2_501)
      expect(reports[1] === reports[0]).toBe(true)
    })
  )

  it.effect.each([
    ["a missing file", ["nowhere.ndjson"], /Cannot read nowhere.ndjson/],
    ["a folder", ["/"], /it is a folder/],
    ["no book", [], /Missing required argument: book/],
    ["another report", ["b", "--output", "r.pdf"], /ends in .ndjson, .csv, .html/],
    ["a supplier that is too long", ["b", "--supplier", "x".repeat(33)], /1 to 32/],
    ["no thread", ["b", "--threads", "0"], /from 1 to 256/]
  ] as const)("refuses %s with another exit status", ([, args, reason]) =>
    Effect.gen(function* () {
      const { err, out, status } = yield* dataImport("check", ...args)
      expect({ status, out }).toEqual({ status: 2, out: "" })
      expect(err).toMatch(reason)
    })
  )
})

describe("the configuration", () => {
  it.effect("provides the time zone, the supplier and the added choices", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const line = account({ sales_channel: "CARRIER_PIGEON" })
      const name = files.write("book.ndjson", book(line))
      const without = yield* checked(name)
      expect(problemsIn(without.answer)).toEqual(["1 invalid_choice sales_channel"])
      const configuration = files.write(
        "acme.json",
        JSON.stringify({
          import_supplier: "DEMO_ENERGY",
          time_zone: "Pacific/Kiritimati",
          choices: { sales_channel: ["CARRIER_PIGEON"] },
          told_by_a_later_service: true
        })
      )
      const { answer, status } = yield* checked(name, "--configuration", configuration)
      expect({ status, problems: answer.problems }).toEqual({ status: 0, problems: [] })
      expect(answer.notes.join()).toMatch(/time zone Pacific\/Kiritimati/)
    })
  )

  it.effect.each([
    ["no JSON", "{"],
    ["no time zone", '{"time_zone": "Europe/Nowhere"}'],
    ["no list", '{"choices": {"reason": "X"}}']
  ] as const)("is refused if it has %s", ([, content]) =>
    Effect.gen(function* () {
      const files = yield* folder
      const name = files.write("book.ndjson", book(account()))
      const configuration = files.write("acme.json", content)
      const { err, status } = yield* dataImport("check", name, "--configuration", configuration)
      expect(status).toBe(2)
      expect(err).toMatch(/Cannot use the configuration .*acme.json/)
    })
  )
})
