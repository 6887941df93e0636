/**
 * Why a command was not carried out, in one sentence for the user. It is a file of its own so that
 * every command words the same refusal in the same way.
 */
import type {
  AlreadyExists,
  DocumentRootTaken,
  DoesNotExist
} from "@data-import/domain/suppliers/Configuration"
import { SupplierCode, wireCode } from "@data-import/domain/suppliers/Supplier"
import type { DocumentsUnavailable } from "@data-import/domain/documents/Documents"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { Refused } from "@data-import/terminal/Refused"
import { Effect } from "effect"

/** Every way in which a command cannot be carried out. */
export type Explained =
  | Refused
  | AlreadyExists
  | DoesNotExist
  | DocumentRootTaken
  | DocumentsUnavailable
  | StorageUnavailable

const nameOf = ({ name, what }: AlreadyExists | DoesNotExist): string =>
  what === "supplier" ? wireCode(SupplierCode.make(name)) : name

const explanation = (error: Exclude<Explained, Refused>): string => {
  switch (error._tag) {
    case "AlreadyExists":
      return `There is already ${article(error.what)} ${error.what} ${nameOf(error)}.`
    case "DoesNotExist":
      return `There is no ${error.what} ${nameOf(error)}.`
    case "DocumentRootTaken":
      return (
        `The document root ${error.documentRoot} overlaps ${error.by.documentRoot}, that of the ` +
        `supplier ${wireCode(error.by.code)} of another organisation: give another --document-root.`
      )
    case "DocumentsUnavailable":
      return "The document store cannot be reached. Is S3_BUCKET right, or else DOCUMENTS_DIR?"
    case "StorageUnavailable":
      return "The database cannot be reached. Is DATABASE_URL right, and does PostgreSQL run?"
  }
}

const article = (noun: string): string => (/^[aeiou]/.test(noun) ? "an" : "a")

/** Explains a refusal of the ports in a sentence. */
export const explained = <A, R>(effect: Effect.Effect<A, Explained, R>) =>
  Effect.mapError(effect, (error) =>
    error._tag === "Refused" ? error : new Refused({ why: explanation(error) })
  )
