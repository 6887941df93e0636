/** Why an import in its present state cannot be changed. */
import type { ImportKey, ImportState } from "./ImportProcess.ts"
import {
  AccountReverted,
  AlreadyImported,
  ImportErased,
  ImportInProgress,
  ImportProcessDoesNotExist,
  ImportSkipped
} from "../requests/Failure.ts"

/** The refusal; null if the import is pending, and so can be changed. */
export const refusalInState = (key: ImportKey, found: ImportState) => {
  switch (found._tag) {
    case "Imported":
      return new AlreadyImported({ key, accountNumber: found.accountNumber })
    case "Skipped":
      return new ImportSkipped({ key })
    case "Erased":
      return new ImportErased({ key })
    case "InProgress":
      return new ImportInProgress({ key })
    case "Reverted":
      return new AccountReverted()
    case "Pending":
      return null
  }
}

/** Why an import in this state can neither be staged nor processed; null if it can. */
export const refusalOf = (key: ImportKey, found: ImportState | null) =>
  found === null ? new ImportProcessDoesNotExist({ key }) : refusalInState(key, found)
