/** Requests that several kinds of case share. */
import { accountPayload } from "@data-import/domain/testing/arbitraries"
import { put, type Wire } from "@data-import/domain/testing/wire"
import { team } from "@data-import/testbed/Tenants"
import type fc from "fast-check"
import { post, type Step } from "./Case.ts"
import type { Day } from "./Day.ts"
import { answers } from "./Expectation.ts"
import { processPath, stagePath, supplier } from "./TenantNames.ts"

export const validatePath = "/v1/data-import/validate-account/"

export const statusPath = (of: string, number: string): string =>
  `/v1/data-import/account-transfer-status/${encodeURIComponent(of)}/${encodeURIComponent(number)}/`

export const importPath = (of: string, number: string): string =>
  `/v1/data-import/imports/${encodeURIComponent(of)}/${encodeURIComponent(number)}/`

/**
 * The mark followed by the text, so that it is unique, cut to the maximum length of a number or an
 * id.
 */
export const marked = (mark: string, text: string): string =>
  Array.from(`${mark} ${text}`).slice(0, 128).join("").trim()

/** Accounts that are valid all day long. */
export const accounts = (day: Day): fc.Arbitrary<Wire> => accountPayload({ now: day.end, supplier })

/** Stages an account and creates it on the platform. */
export const importSteps = (account: Wire): ReadonlyArray<Step> => {
  const { external_account_number } = account
  const payload = { import_supplier: supplier, external_account_number, operations_team_name: team }
  return [
    { request: post(stagePath, { payload: account }), expect: answers("201") },
    { request: post(processPath, { payload }), expect: answers("201") }
  ]
}

/** An account as small as one can be, under a number that no other case has. */
export const smallAccount = (mark: string): Wire =>
  put(
    { import_supplier: supplier, unknown_occupier: true },
    "external_account_number",
    marked(mark, "")
  )
