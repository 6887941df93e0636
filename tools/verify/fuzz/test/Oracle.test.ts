/**
 * Each forbidden property is planted in a valid answer, and the oracle complains about it alone.
 */
import { describe, expect, it } from "vitest"
import { get, post, type Reply, type Request } from "../Case.ts"
import { troublesIn } from "../Fuzz.ts"
import { comeAgainAfter, complaintsAbout } from "../Oracle.ts"
import { hiddenSupplier } from "../TenantNames.ts"
import type { Target } from "../Wire.ts"
import { errorOf, record, refusalOf, replyOf, statusPath } from "./replies.ts"

const target: Target = { port: 8080, tokenOf: (who) => (who === "nobody" ? null : "a-token") }
const secret = "correct-horse-battery-staple"

const asked = get(statusPath)
const instruction = (reference: string) =>
  post("/v1/data-import/payment-instruction/create/", { reference })
const validate = post("/v1/data-import/validate-account/", { payload: {} })

const complaintsOn = (reply: Reply, request: Request = asked) =>
  complaintsAbout(request, reply, target, [secret])

const good: ReadonlyArray<readonly [what: string, Reply, Request?]> = [
  ["a success", replyOf(200, record)],
  ["a refusal", replyOf(404, errorOf("not_found"))],
  [
    "a vendor that is away, where the simulated one fails",
    replyOf(500, errorOf("payment_vendor_unavailable")),
    instruction("down-1")
  ],
  ["no room at present", replyOf(503, errorOf("service_unavailable"), { "retry-after": "1" })],
  [
    "bytes that are no request",
    replyOf(400, errorOf("parse_error")),
    { ...asked, malformed: true, raw: "\0\r\n\r\n" }
  ],
  [
    "a token to who asked for one",
    replyOf(200, {
      data: {
        obtainServiceToken: {
          token: `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(20)}`,
          refreshToken: `rt_${"d".repeat(30)}`
        }
      }
    }),
    post("/v1/graphql/", { query: "mutation" }, "nobody")
  ],
  [
    "a path that was sent",
    replyOf(400, { ...refusalOf("billing_name invalid_choice"), detail: "Not /etc/passwd." }),
    post(validate.path, { payload: { billing_name: "/etc/passwd" } })
  ]
]

const unavailable = errorOf("service_unavailable")

const bad: ReadonlyArray<readonly [complaint: string, Reply, Request?]> = [
  ["the service answered 500 error", replyOf(500, errorOf("error"))],
  ["the service answered 502", replyOf(502, "")],
  ["the service answered 503 service_unavailable", replyOf(503, unavailable)],
  ["body must NOT have additional properties", replyOf(200, { ...record, balance: 1 })],
  ["the document has no 418 for get", replyOf(418, {})],
  ["the code gone is not in the registry", replyOf(404, errorOf("gone"))],
  ["the answer is one to a hidden request", replyOf(200, { import_supplier: hiddenSupplier })],
  ["the answer reveals a secret", replyOf(404, errorOf("not_found", `Not ${secret}.`))],
  [
    "the answer reveals a secret",
    replyOf(400, { ...refusalOf("billing_name blank"), detail: secret }),
    post(validate.path, { payload: { billing_name: secret } })
  ]
]

const leaks: ReadonlyArray<readonly [complaint: string, detail: string]> = [
  ["a stack", "Error\n    at run (main.ts)"],
  ["a stack", "it failed at process (account.ts:12:7)"],
  ["a stack", "node:internal/process/task_queues"],
  ["a source file", "see file:///app/services/auth/src/Auth.ts"],
  ["a source file", "see /app/build/index.mjs"],
  ["a path", "ENOENT: no such file, open /home/service/data"],
  ["a path", "/var/lib"],
  ["a module", "Cannot find module in node_modules"],
  ["SQL", "insert into import_process (id) values ($1)"],
  ["SQL", "SELECT secret FROM api_key"],
  ["SQL", "SQLSTATE 23505"],
  ["a database error", 'duplicate key violates unique constraint "account_pkey"'],
  ["a database error", "permission denied in pg_catalog"],
  ["a database error", "PostgreSQL went away"],
  ["an internal tag", "FiberFailure: it ended"],
  ["an internal tag", "[object Object]"],
  ["an internal tag", "the supplier is undefined"],
  ["an API key", `sk_${"a".repeat(32)}`],
  ["a refresh token", `rt_${"a".repeat(32)}`],
  ["an access token", `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(20)}`],
  ["a database address", "postgres://import:password@localhost/import"]
]

describe("an answer", () => {
  it.for(good)("is right: %s", ([, reply, request]) => {
    expect(complaintsOn(reply, request)).toEqual([])
  })

  it.for(bad)("is wrong: %s", ([complaint, reply, request]) => {
    expect(complaintsOn(reply, request).join("\n")).toContain(complaint)
  })

  it.each(leaks)("reports %s: %j", (name, detail) => {
    const complaint = expect.stringContaining(`the answer reveals ${name}: `)
    expect(complaintsOn(replyOf(404, errorOf("not_found", detail)))).toEqual([complaint])
    expect(complaintsOn(replyOf(200, { ...record, [detail]: 1 }))).toContainEqual(complaint)
  })
})

describe("the delay before a retry", () => {
  it.each([
    [503, "7", 7],
    [503, "0", null],
    [503, "soon", null],
    [503, "", null],
    [500, "7", null],
    [429, "7", null]
  ])("are given by %d with Retry-After %j: %j", (status, seconds, expected) => {
    const reply = replyOf(status, unavailable, { "retry-after": seconds })
    expect(comeAgainAfter(asked, reply)).toBe(expected)
  })

  it.each([
    ["sound-1", 10],
    ["down-1", null]
  ])("are those of a vendor that is away, for the reference %s: %j", (reference, expected) => {
    const reply = replyOf(500, errorOf("payment_vendor_unavailable"))
    expect(comeAgainAfter(instruction(reference), reply)).toBe(expected)
  })
})

describe("the log of the services", () => {
  it.each([
    ['{"level":"ERROR","message":"x"}', "the log says: "],
    ["time=1 level=FATAL message=x", "the log says: "],
    ["a defect in a fiber", "the log says: "],
    ["(node:1) Warning: a leak", "the log says: "],
    [`level=INFO message=${secret}`, "the log holds a secret"]
  ])("is trouble: %s", (line, complaint) => {
    const troubles = troublesIn(`level=INFO message=up\n${line}\n`, [secret])
    expect(troubles).toEqual([expect.stringContaining(complaint)])
  })

  it("is none", () => {
    expect(troublesIn("level=WARN message=slow\nlevel=INFO message=up\n", [secret])).toEqual([])
  })
})
