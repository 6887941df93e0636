/**
 * Who a user is, by the claims of the ID token. Malformed claims grant nothing, so a wrong setting
 * of the identity provider never gives too much access.
 * Source: docs/contract/board.md#roles.
 */
import { Option, Schema } from "effect"
import { SupplierCodeField } from "@data-import/domain/accounts/Account"
import { type BoardRole, boardRoles, type BoardUser } from "@data-import/domain/access/BoardUser"
import { codeIn, type SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"

/** The names of the claims that hold the role, and what the user sees. */
export interface ClaimNames {
  readonly roleClaim: string
  readonly organisationsClaim: string
  readonly suppliersClaim: string
}

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string }

/** The limit of an operator's name too. */
const nameLength = 64

const isOrganisation = Schema.is(OrganisationName)

const supplierCode = Schema.decodeUnknownOption(SupplierCodeField)

/** Providers send a single value as it is, or as a list of one. */
const texts = (claim: unknown): ReadonlyArray<string> =>
  (Array.isArray(claim) ? claim : [claim]).filter((value) => typeof value === "string")

const roleIn = (claim: unknown): BoardRole | null => {
  const roles = texts(claim)
  return boardRoles.findLast((role) => roles.includes(role)) ?? null
}

const organisationsIn = (claim: unknown): BoardUser["organisations"] => {
  const names = texts(claim)
  return names.includes("*") ? null : names.filter(isOrganisation)
}

/** Codes of live suppliers. */
const suppliersIn = (claim: unknown): ReadonlyArray<SupplierCode> =>
  texts(claim).flatMap((text) =>
    Option.toArray(supplierCode(text)).map((code) => codeIn("live", code))
  )

const printable = (text: string): string =>
  Array.from(text.replaceAll(/\p{C}/gu, "").trim()).slice(0, nameLength).join("")

/** The audit log records the name, so claims that are unique at the provider come first. */
const nameOf = (claims: Claims): string => {
  const { email, name, preferred_username: username, sub } = claims
  const given = [username, email, name, sub].flatMap(texts).map(printable)
  return given.find((text) => text !== "") ?? "unnamed"
}

/** The user; null without a role, or without an organisation or supplier to see. */
export const userOf = (claims: Claims, names: ClaimNames): BoardUser | null => {
  const role = roleIn(claims[names.roleClaim])
  const user = { subject: claims.sub, name: nameOf(claims) }
  if (role === "supplier") {
    const suppliers = suppliersIn(claims[names.suppliersClaim])
    return suppliers.length === 0 ? null : { ...user, role, organisations: [], suppliers }
  }
  const organisations = organisationsIn(claims[names.organisationsClaim])
  if (role === null || organisations?.length === 0) return null
  return { ...user, role, organisations, suppliers: null }
}
