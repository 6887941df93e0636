/** The items of an account as text, by which clients recognise what they have sent. */
import type { AccountDescription } from "@data-import/domain/accounts/AccountDescription"
import { encodeDescription } from "@data-import/domain/testing/describedAccounts"
import { objectsAt, type Wire } from "@data-import/domain/testing/wire"

const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "")

const pathsOf = (note: Wire, list: string): string =>
  objectsAt(note, list)
    .map((named) => textOf(named["document_path"]).replace(/^\//, ""))
    .join(" ")

const contentOf = (note: Wire): string =>
  typeof note["body"] === "string"
    ? `body ${textOf(note["body"])}`
    : `paths ${pathsOf(note, "document_paths" in note ? "document_paths" : "documents")}`

export const accountItem = "an account"

/** A note as it is sent, or as it is described, and when it was written. */
export const noteItem = (note: Wire, at: unknown): string =>
  `note ${contentOf(note)} of ${textOf(at)}`

export const statementItem = (statement: Wire): string =>
  `statement ${textOf(statement["statement_id"])}`

export const transactionItem = (id: unknown): string => `transaction ${textOf(id)}`

export const instructionItem = (sent: Wire): string =>
  `instruction ${textOf(sent["vendor"])} ${textOf(sent["reference"])}`

/** Everything on the account, and the account itself. */
export const itemsOf = (account: AccountDescription): ReadonlyArray<string> => {
  const json = encodeDescription(account) as unknown as Wire
  return [
    accountItem,
    ...objectsAt(json, "transactions").map((each) => transactionItem(each["transaction_id"])),
    ...objectsAt(json, "notes").map((note) => noteItem(note, note["created_at"])),
    // A statement of the payload that was completed is there twice.
    ...new Set(objectsAt(json, "statements").map(statementItem)),
    ...objectsAt(json, "payment_instructions").map(instructionItem)
  ]
}
