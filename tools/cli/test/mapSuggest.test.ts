/** A map is proposed from the header and all cells of a CSV file, and fits it as it stands. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { checked, dataImport, folder } from "./commandLine.ts"

interface Suggested {
  readonly columns: Readonly<Record<string, unknown>>
  readonly [member: string]: unknown
}

/** The map that is proposed for this file, the remarks, and what `check` says with it. */
const suggested = Effect.fnUntraced(function* (
  content: string | Uint8Array,
  ...flags: ReadonlyArray<string>
) {
  const files = yield* folder
  const book = files.write("book.csv", content)
  const { err, out, status } = yield* dataImport("map", "suggest", book, ...flags)
  expect(status).toBe(0)
  const map = files.write("map.json", out)
  const { answer } = yield* checked(book, "--map", map)
  return { map: JSON.parse(out) as Suggested, err, answer }
})

const german = [
  "Kundennummer;Kundentyp;Vorname;Nachname;Geburtsdatum;Straße;Hausnummer;PLZ;Ort;Land;E-Mail;" +
    "Telefon;Saldo;Leerstand;SAP-Key",
  "K-1;privat;Ada;Müller;01.02.1980;Hauptstr.;5;10115;Berlin;Deutschland;ada@example.com;" +
    "030 1234567;1.234,50;N;x",
  "K-2;alt;Max;Meier;13.13.1970;Weg;7a;80331;München;Österreich;max@example.com;NULL;-12,00;N;"
].join("\r\n")

describe("map suggest", () => {
  it.effect("recognises a German export by its names and cells", () =>
    Effect.gen(function* () {
      const bytes = Buffer.from(german, "latin1")
      const { answer, err, map } = yield* suggested(bytes, "--country", "DE")
      expect(map).toEqual({
        delimiter: ";",
        encoding: "windows-1252",
        columns: {
          Kundennummer: "/external_account_number",
          Kundentyp: { to: "/account_type", values: { privat: "DOMESTIC" } },
          Vorname: "/customers/0/given_name",
          Nachname: "/customers/0/family_name",
          Geburtsdatum: { to: "/customers/0/date_of_birth", type: "date", format: "DD.MM.YYYY" },
          PLZ: "/billing_address/postal_code",
          Ort: "/billing_address/locality",
          Land: { to: "/billing_address/country", values: { Deutschland: "DE", Österreich: "AT" } },
          "E-Mail": "/customers/0/email",
          Telefon: {
            to: "/customers/0/landline",
            type: "phone",
            country: "DE",
            values: { NULL: null }
          },
          Saldo: { to: "/transfer_balance", type: "decimal", point: ",", group: "." },
          Leerstand: { to: "/unknown_occupier", values: { N: false } }
        },
        joins: [
          {
            to: "/billing_address/street_address",
            columns: ["Straße", "Hausnummer"],
            separator: " "
          }
        ],
        ignore: ["SAP-Key"]
      })
      expect(err.split("\n")).toEqual([
        expect.stringMatching(
          /2 rows, 15 columns with ";" between cells, windows-1252 \(it is not/
        ),
        '"Kundentyp": add to its "values" what these mean: "alt" (row 3).',
        '"Geburtsdatum": 1 cell of another form, first "13.13.1970" in row 3.',
        '"Telefon": read as no value: "NULL".',
        '"Saldo": "1.234,50" is read with "." between groups of three digits.',
        expect.stringMatching(/^"Saldo": 1 positive, 1 negative. A credit must be positive/),
        'Not mapped, and ignored: "SAP-Key".'
      ])
      expect(answer).toMatchObject({ lines: 2, failed_lines: 1 })
    })
  )

  it.effect("names ambiguous dates, phones without a country, and debts in a British export", () =>
    Effect.gen(function* () {
      const rows = [
        "Account No,First name,Surname,DOB,Sold on,Phone,Amount owed,Electricity balance,Postcode",
        'A-1,Ada,Love,31/01/1980,01/02/2020,07700 900123,"1,234.50",1.50,AB1 2CD',
        "A-2,Joe,King,2/1/1981,12/11/2020,+44 7700 900124,-5,0,"
      ]
      const { answer, err, map } = yield* suggested(rows.join("\n"))
      expect(map.columns).toMatchObject({
        DOB: { format: "DD/MM/YYYY" },
        "Sold on": { format: "DD/MM/YYYY" },
        Phone: { to: "/customers/0/landline", type: "phone" },
        "Amount owed": { to: "/transfer_balance", type: "decimal", group: ",", negate: true },
        "Electricity balance": { to: "/ledgers/0/last_statement_balance", type: "decimal" }
      })
      expect(map["constants"]).toEqual({ "/ledgers/0/ledger_code": "ELECTRICITY" })
      expect(err).toContain(
        '"Sold on": ambiguous: every date fits DD/MM/YYYY and MM/DD/YYYY; the map says DD/MM/YYYY'
      )
      expect(err).not.toMatch(/"DOB"/)
      expect(err).toMatch(/"Phone": 1 cell without a calling code.*row 2: give --country/)
      expect(err).toMatch(/"Amount owed": 1 positive, 1 negative. By its name .* "negate"/)
      expect(err).toMatch(/No column is recognised as \/billing_address\/country/)
      expect(answer.lines).toBe(2)
    })
  )

  it.effect("puts balances where no transactions are needed, in a map that check accepts", () =>
    Effect.gen(function* () {
      const rows = [
        "Kundennummer;Nachname;E-Mail;Telefon;Straße;Hausnr.;Saldo Strom (€);Saldo Gas;Saldo gesamt (€)",
        "K-1;Müller;keine;0171 2345678;Weg;5;1,50;2,00;3,50",
        "K-2;Meier;m@example.de;k.A.;Weg;7;-1,50;0,00;-1,50"
      ]
      const { answer, err, map } = yield* suggested(rows.join("\n"), "--country", "DE")
      expect(map).toMatchObject({
        columns: {
          "E-Mail": { to: "/customers/0/email", values: { keine: null } },
          Telefon: { to: "/customers/0/mobile", values: { "k.A.": null } },
          "Saldo Strom (€)": { to: "/ledgers/0/last_statement_balance" },
          "Saldo Gas": { to: "/ledgers/1/last_statement_balance" },
          "Saldo gesamt (€)": { to: "/transfer_balance" }
        }
      })
      expect(err).toMatch(/goes to last_statement_balance, because the file has no transactions/)
      expect(err).toMatch(/"Saldo gesamt \(€\)": in each row it must equal the sum of the ledgers/)
      expect(err).toMatch(/"Telefon": 1 of 1 numbers are those of mobiles.*customers\/0\/mobile/)
      expect(err).toMatch(/"Telefon": read as no value: "k.A."/)
      expect(answer).toMatchObject({ lines: 2, failed_lines: 0 })
    })
  )

  it.effect("joins a British house to its street, and knows paperless customers", () =>
    Effect.gen(function* () {
      const rows = [
        "Acct No,Surname,House,Street,Paperless,Tel",
        "A-1,Love,54,High Street,Y,not known",
        "A-2,King,6,Mill Lane,N,020 7946 0123"
      ]
      const { answer, map } = yield* suggested(rows.join("\n"), "--country", "GB")
      expect(map["joins"]).toEqual([
        { to: "/billing_address/street_address", columns: ["House", "Street"], separator: " " }
      ])
      expect(map.columns).toMatchObject({
        Paperless: { to: "/communication_preference", values: { Y: "ONLINE", N: "PRINT" } },
        Tel: { to: "/customers/0/landline", values: { "not known": null } }
      })
      expect(answer).toMatchObject({ lines: 2, failed_lines: 0 })
    })
  )

  it.effect("fits every header that a CSV file may have", () =>
    Effect.gen(function* () {
      const rows = [
        "sep=|",
        '"Account ""no"""|Name|Name||Phone 2|Other phone|Mail?|Tel|Telephone|data_import_row',
        "A-1|Love|King|text|1|2|ada@example.com|||book.csv:2"
      ]
      const text = `\uFEFF${rows.join("\r\n")}`
      const { answer, err, map } = yield* suggested(Buffer.from(text, "utf16le"))
      expect(map).toEqual({
        delimiter: "|",
        encoding: "utf-16le",
        columns: {
          'Account "no"': "/external_account_number",
          "Mail?": "/customers/0/email",
          Tel: { to: "/customers/0/landline", type: "phone" }
        },
        ignore: ["Name", "", "Phone 2", "Other phone", "Telephone"]
      })
      expect(err).toMatch(/"Name" occurs more than once/)
      expect(err).toMatch(/"Telephone" may be \/customers\/0\/landline, which "Tel" is/)
      expect(answer.lines).toBe(1)
    })
  )

  it.effect("recognises an e-mail address by its cells, and dates with a time", () =>
    Effect.gen(function* () {
      const rows = ["Account;Contact;DOB", "A-1;ada@example.com;1980-01-31 00:00:00"]
      const { answer, map } = yield* suggested(`${rows.join("\n")}\n`)
      expect(map.columns).toMatchObject({
        Contact: "/customers/0/email",
        DOB: { type: "date", format: "YYYY-MM-DD hh:mm:ss" }
      })
      expect(answer.problems).toMatchObject([{ code: "customer_family_name_required" }])
    })
  )

  it.effect("writes the map to a new file, and never over another", () =>
    Effect.gen(function* () {
      const files = yield* folder
      const book = files.write("book.csv", german)
      const output = files.path("map.json")
      const args = ["map", "suggest", book, "--output"]
      const { out, status } = yield* dataImport(...args, output)
      expect({ out, status }).toEqual({
        status: 0,
        out: expect.stringMatching(/map preview .*book.csv --map .*map.json$/)
      })
      const { columns } = JSON.parse(files.read("map.json")) as Suggested
      expect(Object.keys(columns)).toContain("Saldo")
      const again = yield* dataImport(...args, output)
      expect(again).toMatchObject({ status: 2, err: expect.stringMatching(/map.json exists/) })
      const itself = yield* dataImport(...args, book)
      expect(itself).toMatchObject({ status: 2, err: expect.stringMatching(/would destroy/) })
      expect(files.read("book.csv")).toBe(german)
    })
  )
})
