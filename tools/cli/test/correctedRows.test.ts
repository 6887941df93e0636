/** Rows that a report took from a book, and that come back unedited or corrected. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { checked, dataImport, folder, problemsIn } from "./commandLine.ts"

const map = {
  constants: { "/import_supplier": "ACME", "/unknown_occupier": true },
  columns: {
    Account: "/external_account_number",
    Balance: { to: "/transfer_balance", type: "decimal" }
  },
  ignore: ["Name"]
}

/** A book with these rows. Its checks may have corrections. */
const arrange = Effect.fnUntraced(function* (...rows: ReadonlyArray<string>) {
  const files = yield* folder
  const book = files.write("book.csv", `${["Account,Name,Balance", ...rows].join("\n")}\n`)
  const args = [book, "--map", files.write("map.json", JSON.stringify(map))]
  return { files, args }
})

const corrections = (...files: ReadonlyArray<string>) =>
  files.flatMap((file) => ["--corrections", file])

describe("a row of a report", () => {
  it.effect("that is malformed fails again until it is spread over the columns", () =>
    Effect.gen(function* () {
      const { args, files } = yield* arrange("A-1,Ada", 'A-2,O"x,1', "A-3", "A-4,Dee,1,,x")
      const [first, second] = ["1-corrected.csv", "2-corrected.csv"].map(files.path) as [
        string,
        string
      ]
      yield* dataImport("check", ...args, "-o", first)
      const rows = (name: string) => files.read(name).trimEnd().split("\r\n").slice(1)
      expect(rows("1-corrected.csv")).toEqual([
        expect.stringMatching(/^"A-1,Ada",,,book.csv:2,"The row is malformed: it has 2 cells/),
        expect.stringMatching(/^"A-2,O""x,1",,,book.csv:3,/),
        expect.stringMatching(/^A-3,,,book.csv:4,"The row is malformed: it has 1 cells/),
        expect.stringMatching(/^"A-4,Dee,1,,x",,,book.csv:5,/)
      ])

      const unedited = [...args, ...corrections(first)]
      const { answer } = yield* checked(...unedited, "-o", second)
      expect(problemsIn(answer)).toEqual(["4 malformed_row non_field_errors"])
      expect(answer.problems[0]?.examples[0]?.detail).toMatch(/first cell.*[Ss]pread it over/)
      expect(rows("2-corrected.csv")[0]).toMatch(/^"A-1,Ada",,,1-corrected.csv:2,/)

      const edited = files.read("2-corrected.csv").replace('"A-1,Ada",,,', "A-1,Ada,1.50,")
      files.write("2-corrected.csv", edited)
      const further = yield* checked(...unedited, ...corrections(second))
      expect(further.answer).toMatchObject({ lines: 4, failed_lines: 3 })
    }).pipe(Effect.scoped)
  )
})
