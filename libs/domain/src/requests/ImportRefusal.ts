/** Why an import in its present state takes no change. */
import type { ImportKey, ImportState } from "../account/ImportProcess.ts"
import { AlreadyImported, ImportErased, ImportInProgress, ImportSkipped } from "./Failure.ts"

/** Null if it is pending, and so can be changed. */
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
    case "Pending":
      return null
  }
}
