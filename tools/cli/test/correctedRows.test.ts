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

  it.effect("replaces its own row and no other, whatever its number is", () =>
    Effect.gen(function* () {
      const { args, files } = yield* arrange("A-1,Ada,1", "A-1,Ben,2", "A-3,Cy,3x", "A-4,Dee,4x")
      const name = "1-corrected.csv"
      const [first, second] = [files.path(name), files.path("2-corrected.csv")]
      yield* dataImport("check", ...args, "-o", first)
      const edit = (from: string, to: string, file = name) =>
        files.write(file, files.read(file).replace(from, to))

      edit("3x", "3.00")
      const unedited = yield* checked(...args, ...corrections(first), "-o", second)
      expect(unedited.answer).toMatchObject({ lines: 4, failed_lines: 2, replaced_lines: 3 })
      const repeated = unedited.answer.problems.find(({ code }) => code === "repeated_number")
      expect(repeated?.examples[0]).toMatchObject({
        row: 2,
        detail: "The number is that of book.csv:2, which has another content."
      })

      edit("A-1,Ben", "A-2,Ben", "2-corrected.csv")
      edit("4x", "4", "2-corrected.csv")
      const third = files.write("3.csv", "Account,Name,Balance\nA-3,Cy,5\n")
      const { out, status } = yield* dataImport("check", ...args, ...corrections(first, second))
      expect({ out, status }).toMatchObject({ status: 0 })
      expect(out).toMatch(/4 lines: 4 valid.*\nThe corrections replace 3 lines of the book\.\n/)
      const lost = edit("d.csv:4", "d.csv:9", "2-corrected.csv")
      const misplaced = yield* checked(...args, ...corrections(first, lost, third))
      expect(misplaced.answer).toMatchObject({ lines: 5, unplaced_corrections: 1 })
    }).pipe(Effect.scoped)
  )
})
