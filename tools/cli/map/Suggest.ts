/** `data-import map suggest`: proposes a map for a CSV file. */
import { existsSync, statSync } from "node:fs"
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { isPhoneCountry } from "@data-import/domain/schema/Phone"
import { say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { cannotRead, emptyBook, open, requirePlainFiles } from "../book/Book.ts"
import { reportColumns } from "../book/ColumnMap.ts"
import { isEmpty, rowsIn } from "../book/CsvBook.ts"
import { RowReader } from "../book/CsvRows.ts"
import { refuseOverwriting } from "../book/Overwriting.ts"
import { writeWholeFile } from "../configuration/WholeFile.ts"
import { ColumnProfile } from "./ColumnProfile.ts"
import { type CsvForm, csvFormOf } from "./CsvForm.ts"
import { suggestedMap } from "./SuggestedMap.ts"
import { formRemark, type SeenColumn } from "./Suggestion.ts"
import { fieldNamed } from "./Synonyms.ts"

interface Seen {
  readonly columns: ReadonlyArray<SeenColumn>
  readonly rows: number
}

/** Looks at every cell. Malformed rows are left to `check`. */
const seenIn = async (
  bytes: AsyncIterable<Uint8Array>,
  { delimiter, encoding }: CsvForm,
  country: string | null
): Promise<Seen> => {
  let columns: ReadonlyArray<SeenColumn> | null = null
  let rows = 0
  for await (const row of rowsIn(bytes, encoding, new RowReader(delimiter))) {
    const { cells, number } = row
    if (columns === null) {
      if (cells === null) throw new Error("the quotes of the header are malformed")
      columns = cells.map((cell): SeenColumn => {
        const field = fieldNamed(cell)
        const profile = new ColumnProfile(field?.kind ?? "text", country)
        return { name: cell.trim(), field, profile }
      })
    } else if (!isEmpty(row)) {
      rows++
      for (const [at, { profile }] of columns.entries()) {
        profile.add((cells?.[at] ?? "").trim(), number)
      }
    }
  }
  return { columns: (columns ?? []).filter(({ name }) => !reportColumns.includes(name)), rows }
}

/** A map that people have corrected is not replaced. */
const refuseExisting = (file: string): Effect.Effect<void, Refused> =>
  Effect.suspend(() => {
    if (!existsSync(file) || statSync(file).size === 0) return Effect.void
    const why = `${file} exists, and may have corrections. Name another file.`
    return Effect.fail(new Refused({ why }))
  })

export const suggest = Command.make(
  "suggest",
  {
    book: Argument.String("book").pipe(
      Argument.withMetavar("FILE"),
      Argument.withDescription("A CSV file with a header, plain or gzip")
    ),
    country: Flag.String("country").pipe(
      Flag.withMetavar("CODE"),
      Flag.withDescription("Of phones without a calling code, and of addresses, like GB or DE"),
      Flag.filter(isPhoneCountry, () => "a code of two capitals, like GB or DE"),
      Flag.optional
    ),
    output: Flag.String("output").pipe(
      Flag.withAlias("o"),
      Flag.withMetavar("FILE"),
      Flag.withDescription("Where to write the map; it is printed unless given"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ book, output, ...given }) {
    const country = Option.getOrNull(given.country)
    yield* requirePlainFiles([book])
    for (const file of Option.toArray(output)) {
      yield* refuseOverwriting([file], [book])
      yield* refuseExisting(file)
    }
    const failed = (error: unknown) => cannotRead(book, error)
    const first = yield* open(book)
    const form = yield* Effect.tryPromise({ try: () => csvFormOf(first.bytes), catch: failed })
    if (form === null) return yield* emptyBook(book)
    const { bytes } = yield* open(book)
    const { columns, rows } = yield* Effect.tryPromise({
      try: () => seenIn(bytes, form, country),
      catch: failed
    })
    const { map, remarks } = suggestedMap(columns, form, country)
    const text = JSON.stringify(map, null, 2)
    const all = [formRemark(book, rows, columns.length, form), ...remarks]
    for (const remark of all) yield* Console.error(`${remark}.`)
    if (Option.isNone(output)) return yield* Console.log(text)
    const file = output.value
    yield* writeWholeFile(file, `${text}\n`)
    yield* say(
      { file, remarks: all },
      `The map is in ${file}. To look at it: data-import map preview ${book} --map ${file}`
    )
  })
).pipe(
  Command.withDescription(
    "Propose a map for a CSV file, from its header and all its cells. It prints the map, and on " +
      "stderr what a person has to look at: ambiguous dates, signs, columns that it does not know."
  ),
  Command.withShortDescription("Propose a map for a CSV file"),
  Command.withExamples([
    {
      command: "data-import map suggest customers.csv --country GB > columns.json",
      description: "Write the map, for data-import check customers.csv --map columns.json"
    }
  ])
)
