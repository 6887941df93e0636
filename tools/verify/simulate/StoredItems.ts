/** The items of an account by which clients recognise what they have sent. */
import {
  type AccountDescription,
  encodeDescription
} from "@data-import/domain/account/AccountDescription"
import { objectsAt, type Wire } from "@data-import/domain/testing/wire"

interface StoredItems {
  readonly transactions: ReadonlyArray<string>
  /** Each as its content, and when it was written. */
  readonly notes: ReadonlyArray<{ readonly content: string; readonly at: string }>
  /** A statement of the payload that was completed is there twice, and here once. */
  readonly statements: ReadonlyArray<string>
  readonly instructions: ReadonlyArray<string>
}

const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "")

const pathsOf = (note: Wire, list: string): string =>
  objectsAt(note, list)
    .map((named) => textOf(named["document_path"]).replace(/^\//, ""))
    .join(" ")

/** The identity of a note as it is sent, or as it is described. */
export const contentOf = (note: Wire): string =>
  typeof note["body"] === "string"
    ? `body ${textOf(note["body"])}`
    : `paths ${pathsOf(note, "document_paths" in note ? "document_paths" : "documents")}`

export const instructionOf = (sent: Wire): string =>
  `${textOf(sent["vendor"])} ${textOf(sent["reference"])}`

/** The values of a field that tells items apart. */
export const idsIn = (list: ReadonlyArray<Wire>, field: string): ReadonlyArray<string> =>
  list.map((item) => textOf(item[field]))

export const itemsOf = (account: AccountDescription): StoredItems => {
  const json = encodeDescription(account) as unknown as Wire
  return {
    transactions: idsIn(objectsAt(json, "transactions"), "transaction_id"),
    notes: objectsAt(json, "notes").map((note) => ({
      content: contentOf(note),
      at: textOf(note["created_at"])
    })),
    statements: [...new Set(idsIn(objectsAt(json, "statements"), "statement_id"))],
    instructions: objectsAt(json, "payment_instructions").map(instructionOf)
  }
}
