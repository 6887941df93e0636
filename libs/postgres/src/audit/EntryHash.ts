/**
 * The hash of an audit entry, computed as the function `audit_leaf` of the schema does, but without
 * the database. It commits to the account number by a hash with a random salt, which is all that is
 * left when the number is erased.
 */
import { hash } from "node:crypto"
import { leafHashOfText } from "@data-import/domain/merkle/MerkleTree"
import { digest } from "../tables/Hashes.ts"

/** No valid number begins with a blank. */
const prefix = " erased:"

export interface HashedEntry {
  readonly id: string
  /** Seconds since 1970, as PostgreSQL writes them. */
  readonly at: string
  readonly organisation: string
  readonly api_key: string
  readonly request_id: string
  readonly action: string
  readonly outcome: string
  readonly import_supplier: string | null
  readonly external_account_number: string | null
  /** Null if there is no number, or it was erased. */
  readonly salt: Uint8Array | null
}

/** The text of an erased number. */
export const erasedNumber = (salt: Uint8Array, number: string): string =>
  prefix + hash("sha256", Buffer.concat([salt, Buffer.from(number)]), "hex")

/** What the hash contains in place of the number; undefined if number and salt do not agree. */
const hashedNumber = ({ external_account_number: number, salt }: HashedEntry) => {
  if (number === null || number.startsWith(prefix)) return salt === null ? number : undefined
  return salt === null ? undefined : erasedNumber(salt, number)
}

/** A netstring, or `-` for null, so that no two entries have the same text. */
const netstring = (text: string | null): string =>
  text === null ? "-" : `${Buffer.byteLength(text)}:${text},`

/** In hexadecimal. Empty if the number and its salt do not agree, as nothing was sealed so. */
export const entryHash = (entry: HashedEntry): string => {
  const number = hashedNumber(entry)
  if (number === undefined) return ""
  const { action, api_key, at, id, import_supplier, organisation, outcome, request_id } = entry
  const members = [id, at, organisation, api_key, request_id, action, outcome, import_supplier]
  const text = [...members, number].map(netstring).join("")
  return Buffer.from(leafHashOfText(digest, text)).toString("hex")
}
