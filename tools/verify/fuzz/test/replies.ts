/** Valid answers as they come off the wire. */
import type { Reply } from "../Case.ts"

export const statusPath = "/v1/data-import/account-transfer-status/FUZZ/imported-0/"

/** The headers of every good answer. */
export const validHeaders: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-request-id": "one"
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An answer of this body: text as it is, anything else as JSON. */
export const replyOf = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
): Reply => {
  const text = typeof body === "string" ? body : JSON.stringify(body)
  const all = { ...validHeaders, ...headers }
  return { status, headers: all, body: text, json: () => parsed(text), value: parsed(text) }
}

/** What is answered where an import stands. */
export const record = { status: "COMPLETED", kraken_account_number: "A-7F3C19E2" }

/** An error response that lists no errors. */
export const errorOf = (code: string, detail = "Something is wrong.") => ({ detail, code })

/** An account refused for these errors, each written `attr code`. */
export const refusalOf = (...errors: ReadonlyArray<string>) => ({
  detail: "The account breaks rules.",
  code: "account_failed_validation",
  errors: errors.map((error) => {
    const [attr, code] = error.split(" ")
    return { detail: "Something is wrong.", code, attr }
  })
})
