/**
 * Who a user is, by the claims of the ID token. Malformed claims grant nothing, so a wrong setting
 * of the identity provider never gives too much access.
 * Source: docs/contract/board.md#roles.
 */
import { Schema } from "effect"
import type { BoardRole, BoardUser } from "@data-import/domain/access/BoardUser"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"

/** The names of the claims that hold the role and the organisations. */
export interface ClaimNames {
  readonly roleClaim: string
  readonly organisationsClaim: string
}

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string }

/** The limit of an operator's name too. */
const nameLength = 64

const isOrganisation = Schema.is(OrganisationName)

/** Providers send a single value as it is, or as a list of one. */
const texts = (claim: unknown): ReadonlyArray<string> =>
  (Array.isArray(claim) ? claim : [claim]).filter((value) => typeof value === "string")

const roleIn = (claim: unknown): BoardRole | null => {
  const roles = texts(claim)
  return roles.includes("manager") ? "manager" : roles.includes("viewer") ? "viewer" : null
}

const organisationsIn = (claim: unknown): BoardUser["organisations"] => {
  const names = texts(claim)
  return names.includes("*") ? null : names.filter(isOrganisation)
}

const printable = (text: string): string =>
  Array.from(text.replaceAll(/\p{C}/gu, "").trim()).slice(0, nameLength).join("")

/** The audit log records the name, so claims that are unique at the provider come first. */
const nameOf = (claims: Claims): string => {
  const { email, name, preferred_username: username, sub } = claims
  const given = [username, email, name, sub].flatMap(texts).map(printable)
  return given.find((text) => text !== "") ?? "unnamed"
}

/** The user; null without a role, or without an organisation to see. */
export const userOf = (claims: Claims, names: ClaimNames): BoardUser | null => {
  const role = roleIn(claims[names.roleClaim])
  const organisations = organisationsIn(claims[names.organisationsClaim])
  if (role === null || organisations?.length === 0) return null
  return { subject: claims.sub, name: nameOf(claims), role, organisations }
}
