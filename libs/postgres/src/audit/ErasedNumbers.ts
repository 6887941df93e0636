/**
 * The HMAC of an account number. The hashes of the audit log contain it in place of the number, and
 * it is all that is left when the number is erased. See the migration.
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
