import { describe, expect, it } from "vitest"
import { type Answered, type Asked, complaints } from "../testing/ResponseCheck.ts"

const status = "/v1/data-import/account-transfer-status/S/1/"
const stage = "/v1/data-import/account-import-process/create-or-update/"

const asked = (method: string, path: string, headers: Asked["headers"] = {}): Asked => ({
  method,
  path,
  headers
})

const answered = (
  code: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
): Answered => ({
  status: code,
  headers: {
    "cache-control": "no-store",
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "x-request-id": "an-id",
    ...headers
  },
  text: body === undefined ? "" : JSON.stringify(body)
})

const problem = (code: string, more: object = {}) => ({ detail: "Because.", code, ...more })
const unknown = { status: "UNKNOWN", kraken_account_number: "" }
const error = (code: string, attr = "a") =>
  problem("account_failed_validation", { errors: [{ attr, code, detail: "No." }] })

describe("a response within the contract", () => {
  const good: ReadonlyArray<readonly [string, Asked, Answered]> = [
    ["a success", asked("GET", status), answered(200, unknown)],
    ["a HEAD", asked("HEAD", status), answered(200, undefined)],
    ["an id given back", asked("GET", status, { "x-request-id": "an-id" }), answered(200, unknown)],
    ["an unknown path", asked("GET", "/nowhere/"), answered(404, problem("not_found"))],
    [
      "a method that is not there",
      asked("GET", stage),
      answered(405, problem("method_not_allowed"), { allow: "POST" })
    ],
    [
      "no token for one",
      asked("GET", stage),
      answered(401, problem("not_authenticated"), { "www-authenticate": "Token" })
    ],
    [
      "a redirect",
      asked("POST", stage.slice(0, -1)),
      answered(308, undefined, { location: `${stage}?a` })
    ],
    ["errors", asked("POST", stage), answered(400, error("max_length"))],
    ["a member without a name", asked("POST", stage), answered(400, error("unknown_field", ""))]
  ]
  it.each(good)("is accepted: %s", (_name, question, answer) => {
    expect(complaints(question, answer)).toEqual([])
  })
})

describe("a response outside the contract", () => {
  const bad: ReadonlyArray<readonly [RegExp, Asked, Answered]> = [
    [/defect/, asked("GET", status), answered(500, problem("error", { request_id: "an-id" }))],
    [/status/, asked("GET", status), answered(200, { ...unknown, status: "SKIPPED" })],
    [/additional/, asked("GET", status), answered(200, { ...unknown, owner: "x" })],
    [/not JSON/, asked("GET", status), { ...answered(200, unknown), text: "[" }],
    [/no 201/, asked("GET", status), answered(201, unknown)],
    [/no 413/, asked("GET", status), answered(413, problem("payload_too_large"))],
    [/nobody describes/, asked("GET", "/nowhere/"), answered(200, {})],
    [/nobody describes/, asked("POST", "/nowhere"), answered(308, undefined, { location: "/x/" })],
    [/not there/, asked("GET", stage), answered(200, unknown)],
    [/registry/, asked("POST", stage), answered(400, error("too_long"))],
    [/says nothing/, asked("POST", stage), answered(400, error("max_length", ""))],
    [/registry/, asked("GET", "/nowhere/"), answered(404, problem("gone"))],
    [/registry/, asked("GET", "/nowhere/"), answered(404, problem("max_length"))],
    [/another status/, asked("GET", "/nowhere/"), answered(404, problem("parse_error"))],
    [/www-authenticate/, asked("GET", status), answered(401, problem("not_authenticated"))],
    [/allow/, asked("GET", stage), answered(405, problem("method_not_allowed"))],
    [/retry-after/, asked("POST", stage), answered(409, problem("idempotency_key_in_use"))],
    [
      /retry-after/,
      asked("GET", status),
      answered(503, problem("service_unavailable"), { "retry-after": "0" })
    ],
    [/body where none is/, asked("HEAD", status), answered(200, unknown)],
    [/content-type/, asked("GET", status), answered(200, unknown, { "content-type": "text/html" })],
    [/cache-control/, asked("GET", status), answered(200, unknown, { "cache-control": "public" })],
    [/x-request-id/, asked("GET", status), answered(200, unknown, { "x-request-id": "" })],
    [
      /x-request-id/,
      asked("GET", status, { "x-request-id": "another-id" }),
      answered(200, unknown)
    ],
    [
      /x-request-id/,
      asked("GET", status, { "x-request-id": "no id" }),
      answered(200, unknown, { "x-request-id": "no id" })
    ]
  ]
  it.each(bad)("is reported: %s", (complaint, question, answer) => {
    expect(complaints(question, answer).join("; ")).toMatch(complaint)
  })
})
