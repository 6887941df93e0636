/** `data-import map preview`: shows what a map makes of rows, and their errors. */
import { DateTime, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { cannotRead, emptyBook } from "../book/Book.ts"
import { bookFile } from "../book/BookFile.ts"
import { columnsByAttr } from "../book/ColumnMap.ts"
import { refuseOverwriting } from "../book/Overwriting.ts"
import { configurationFlag, supplierFlag } from "../check/Check.ts"
import { configurationOf } from "../check/SupplierConfiguration.ts"
import { writeWholeFile } from "../configuration/WholeFile.ts"
import { type Preview, readPreview } from "./PreviewedRow.ts"
import { previewPage } from "./PreviewPage.ts"
import { jsonOf, textOf } from "./PreviewText.ts"

/** Rows of a page: the first ones, and the first that fail. */
const shown = 100

/** The row below the header. */
const firstRow = 2

const noRow = (book: string, row: number, { seen }: Preview) =>
  new Refused({
    why: `${book} has no row ${row} with an account; row 1 is the header, and ${seen} rows follow.`
  })

export const preview = Command.make(
  "preview",
  {
    book: Argument.String("book").pipe(
      Argument.withMetavar("FILE"),
      Argument.withDescription("A CSV book, plain or gzip")
    ),
    map: Flag.String("map").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Which column is which field")
    ),
    row: Flag.Int("row").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("The row as a spreadsheet numbers it; 2, the first, unless given"),
      Flag.filter(
        (row) => row >= firstRow,
        () => "2 or greater: row 1 is the header"
      ),
      Flag.optional
    ),
    output: Flag.String("output").pipe(
      Flag.withAlias("o"),
      Flag.withMetavar("FILE"),
      Flag.withDescription("Write a page with the first 100 rows and the first 100 that fail"),
      Flag.filter(
        (file) => /\.html$/i.test(file),
        () => "a file that ends in .html"
      ),
      Flag.optional
    ),
    configuration: configurationFlag,
    supplier: supplierFlag
  },
  Effect.fnUntraced(function* ({ book, configuration, map, output, row, supplier }) {
    const files = [book, map, ...Option.toArray(configuration)]
    yield* refuseOverwriting(Option.toArray(output), files)
    const known = yield* configurationOf({ configuration, supplier })
    const file = yield* bookFile({
      book,
      map: Option.some(map),
      corrections: [],
      lastWins: false
    })
    yield* refuseOverwriting(Option.toArray(output), file.further)
    const of = {
      book: yield* file.open,
      columns: file.map === null ? {} : columnsByAttr(file.map),
      configuration: known,
      now: yield* DateTime.now
    }
    const isPage = Option.isSome(output)
    const number = Option.getOrElse(row, () => firstRow)
    const found = yield* Effect.tryPromise({
      try: () =>
        readPreview(of, {
          row: isPage && Option.isNone(row) ? null : number,
          first: isPage ? shown : 0,
          failed: isPage ? shown : 0
        }),
      catch: (error) => cannotRead(book, error)
    })
    if (found.seen === 0) return yield* emptyBook(book)
    const wanted = found.rows.find((each) => each.row === number)
    if (wanted === undefined) return yield* noRow(book, number, found)
    if (!isPage) return yield* say(jsonOf(book, wanted), textOf(book, wanted))
    yield* writeWholeFile(output.value, previewPage(book, found))
    yield* say(
      { book, file: output.value, rows: found.rows.length },
      `${output.value} shows ${found.rows.length} rows of ${book}.`
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Show what a map makes of a row: its cells, the account that they become, and its errors. With " +
      "--output it writes a page with rows to step through."
  ),
  Command.withShortDescription("Show what a map makes of rows"),
  Command.withExamples([
    {
      command: "data-import map preview customers.csv --map columns.json --row 5",
      description: "Show a row"
    },
    {
      command: "data-import map preview customers.csv --map columns.json --output preview.html",
      description: "Write a page with rows to step through"
    }
  ])
)
