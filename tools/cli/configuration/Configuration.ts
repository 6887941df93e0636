/** `data-import configuration`: fetches what `check --configuration` reads. */
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { DataImport } from "@data-import/client/effect"
import { announce, say } from "@data-import/terminal/Answer"
import { onService } from "../connection/Connection.ts"
import { writeWholeFile } from "./WholeFile.ts"
import { supplier } from "../ImportArguments.ts"

export const configuration = Command.make(
  "configuration",
  {
    supplier,
    output: Flag.String("output").pipe(
      Flag.withAlias("o"),
      Flag.withMetavar("FILE"),
      Flag.withDescription("Where to write the file; it is printed unless given"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ output, supplier }) {
    const { query } = yield* DataImport
    const body = yield* query.getSupplierConfiguration({ params: { import_supplier: supplier } })
    const text = JSON.stringify(body, null, 2)
    const { import_supplier } = body
    if (Option.isNone(output)) {
      yield* announce(`The configuration of ${import_supplier}`)
      return yield* Console.log(text)
    }
    const file = output.value
    yield* writeWholeFile(file, `${text}\n`)
    yield* say({ import_supplier, file }, `The configuration of ${import_supplier} is in ${file}.`)
  }, onService)
).pipe(
  Command.withDescription(
    "Fetch what only the server knows of a supplier: its time zone, and the values that the " +
      "operator added to the open choices. The file is for check --configuration."
  ),
  Command.withExamples([
    {
      command: "data-import configuration ACME_LEGACY --output acme.json",
      description: "Write the file, for data-import check book.ndjson --configuration acme.json"
    },
    { command: "data-import configuration ACME_LEGACY", description: "Print it" }
  ])
)
