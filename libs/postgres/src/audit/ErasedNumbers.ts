/**
 * What the hashes of the audit log contain in place of an account number, and what is left of the
 * number when it is erased: an HMAC of it. See the migration.
 */
import { createHmac } from "node:crypto"

/** No valid number begins with a blank. */
const prefix = " erased:"

/** HMAC-SHA256 of the number, hexadecimal like the salt. */
export const hmacOf = (salt: string, number: string): string =>
  createHmac("sha256", Buffer.from(salt, "hex")).update(number).digest("hex")

/** The text of an erased number. */
export const erasedNumber = (hmac: string): string => `${prefix}${hmac}`

export const isErasedNumber = (number: string | null): boolean =>
  number?.startsWith(prefix) === true
