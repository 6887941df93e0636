/** Commands about single imports: leave one out of the migration, and take it in again. */
import type { ImportState } from "@data-import/domain/account/ImportProcess"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { DateTime, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { say } from "./Answer.ts"
import { asExternalAccountNumber, asSupplierCode } from "./Parameter.ts"
import { Refused } from "./Refused.ts"
import { onStorage } from "./Storage.ts"

const parameters = {
  import_supplier: Argument.String("supplier").pipe(asSupplierCode),
  external_account_number: Argument.String("number").pipe(asExternalAccountNumber)
}

const reason = (found: ImportState | null): string => {
  switch (found?._tag) {
    case undefined:
      return "nothing is staged for it"
    case "Imported":
      return `it is imported, as ${found.accountNumber}`
    case "InProgress":
      return "it is being processed right now"
    case "Pending":
    case "Skipped":
      return "its state changed meanwhile; try again"
  }
}

const setSkipped = (name: string, skipped: boolean, done: string) =>
  Command.make(
    name,
    parameters,
    Effect.fnUntraced(function* (key) {
      const imports = yield* ImportProcesses
      const outcome = yield* imports.setSkipped({ key, skipped, at: yield* DateTime.now })
      const label = `${key.import_supplier} ${key.external_account_number}`
      if (outcome._tag === "Refused") {
        return yield* new Refused({ why: `Cannot ${name} ${label}: ${reason(outcome.found)}.` })
      }
      yield* say({ ...key, skipped }, `${label} ${done}.`)
    }, onStorage)
  )

const skip = setSkipped("skip", true, "is skipped").pipe(
  Command.withDescription("Leave a staged account out: it is neither staged nor processed again")
)

const unskip = setSkipped("unskip", false, "is pending").pipe(
  Command.withDescription("Take a skipped account in again")
)

export const importCommand = Command.make("import").pipe(
  Command.withDescription("Single imports"),
  Command.withSubcommands([skip, unskip])
)
