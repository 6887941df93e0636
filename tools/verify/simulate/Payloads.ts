/**
 * Account payloads to send. Each is made from a number, so that a run that draws the same numbers
 * sends the same payloads. A note holds the version of the import's data.
 */
import fc from "fast-check"
import { relativePath } from "@data-import/domain/schema/DocumentPath"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { DocumentPath } from "@data-import/domain/schema/DocumentPath"
import { accountPayload } from "@data-import/domain/testing/arbitraries"
import { drop, get, objectsAt, put, type Wire } from "@data-import/domain/testing/wire"

/** How many different payloads there are; making one takes a millisecond or two. */
export const payloadCount = 150

const arbitrary = accountPayload({ supplier: "anybody" })
const made = new Map<number, Wire>()

/**
 * Removes data that time makes invalid, so that only documents decide whether a staged payload can
 * be processed on another day.
 */
const lasting = (payload: Wire): Wire =>
  objectsAt(payload, "notes").reduce(
    (altered, _note, index) => drop(altered, ["notes", index, "unpin_at"]),
    payload
  )

const payloadOf = (number: number): Wire => {
  const known = made.get(number)
  if (known !== undefined) return known
  const [payload] = fc.sample(arbitrary, { seed: number, numRuns: 1 })
  const fresh = lasting(payload ?? {})
  made.set(number, fresh)
  return fresh
}

/** The body of the note that holds the version. */
const versionNote = (version: number): string => `version ${version}`

/** The payload of this number, for the import, as this version of its data. */
export const versionOf = (number: number, key: ImportKey, version: number): Wire => {
  const payload = { ...payloadOf(number), ...key }
  const notes = objectsAt(payload, "notes")
  return put(payload, "notes", [...notes, { body: versionNote(version) }])
}

/** Ways to break a payload that neither time nor another request fixes. */
export const breakages: Readonly<Record<string, (payload: Wire) => Wire>> = {
  "an unknown field": (payload) => put(payload, "colour", "red"),
  "customers that are no list": (payload) => put(payload, "customers", "nobody"),
  "a null": (payload) => put(payload, "billing_name", null),
  "metadata twice": (payload) =>
    put(payload, "metadata", [
      { key: "k", value: {} },
      { key: "k", value: {} }
    ]),
  "a ledger that does not add up": (payload) =>
    put(payload, "ledgers", [
      ...objectsAt(payload, "ledgers"),
      { ledger_code: "wrong by a cent", last_statement_balance: "10.00", ledger_balance: "10.01" }
    ])
}

const pathsIn = (note: Wire): ReadonlyArray<unknown> =>
  objectsAt(note, "document_paths").map((named) => named["document_path"])

/** The documents that a body names, without a leading slash. */
export const documentsOf = (body: Wire): ReadonlyArray<string> =>
  [
    ...objectsAt(body, "notes").flatMap(pathsIn),
    ...objectsAt(body, "statements").map((statement) => get(statement, "statement_path"))
  ].flatMap((path) => (typeof path === "string" ? [relativePath(path as DocumentPath)] : []))

/** The ids of the transactions in the ledgers of a payload. */
export const transactionIdsOf = (payload: Wire): ReadonlyArray<string> =>
  objectsAt(payload, "ledgers").flatMap((ledger) =>
    ["historical_statement_transactions", "current_statement_transactions"].flatMap((list) =>
      objectsAt(ledger, list).map((transaction) => String(transaction["transaction_id"]))
    )
  )
