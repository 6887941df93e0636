/**
 * The cases that every run begins with: each operation with each answer that any operation may
 * give, and each code of an account. They do not depend on the seed.
 */
import { mutationsOf } from "@data-import/domain/testing/mutants"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { put, type Wire } from "@data-import/domain/testing/wire"
import { type Plan, plan, post, type Request } from "./Case.ts"
import type { Day } from "./Day.ts"
import { operations, type Operation } from "./Document.ts"
import { answers, both, closes, errors } from "./Expectation.ts"
import { revertPlans } from "./RevertPlans.ts"
import { statePlans } from "./StatePlans.ts"
import { validatePath } from "./Steps.ts"
import { supplier } from "./TenantNames.ts"
import { validAnswers, validRequest } from "./ValidRequests.ts"

const tooLarge = 10 * 1024 * 1024 + 1

/** Refusals of a late or too large body, even for operations that ignore it. */
const refusedByAnyBody = (asked: Operation, valid: Request): ReadonlyArray<Plan> => {
  const announced: Request = {
    ...valid,
    framing: "announced",
    headers: [...valid.headers, ["content-length", String(tooLarge)]]
  }
  const poured: Request = {
    ...valid,
    body: Buffer.alloc(tooLarge + 1_000_000, " "),
    framing: { chunk: 1_000_000 }
  }
  const one = (name: string, request: Request, outcome: string) =>
    plan(asked.id, "bytes", name, [request, answers(outcome)])
  return [
    one("a body that stops coming", { ...valid, framing: "stalled" }, "408 request_timeout"),
    one("a body announced as too large", announced, "413 payload_too_large"),
    one("a body that turns out too large", poured, "413 payload_too_large")
  ]
}

const refusedByBody = (asked: Operation): ReadonlyArray<Plan> => {
  const valid = validRequest(asked)
  const one = (name: string, request: Request, outcome: string) =>
    plan(asked.id, "bytes", name, [request, answers(outcome)])
  return [
    ...refusedByAnyBody(asked, valid),
    one("an open text", { ...valid, body: '{"' }, "400 parse_error"),
    one("no media type", { ...valid, headers: [] }, "415 unsupported_media_type")
  ]
}

/** A body that is sent to an operation without one is read to its end, and ignored. */
const refusedByIgnoredBody = (asked: Operation): ReadonlyArray<Plan> => {
  const valid: Request = { ...validRequest(asked), body: '{"' }
  return [
    ...refusedByAnyBody(asked, valid),
    plan(asked.id, "bytes", "a body that nobody asked for", [valid, answers("200")])
  ]
}

/** Refusals with the operation's code for a request that breaks a rule, if it has one. */
const refusedByQuery = (asked: Operation): ReadonlyArray<Plan> => {
  const code = asked.answers.get(400)?.find((it) => it.endsWith("_failed_validation"))
  const valid = validRequest(asked)
  const one = (name: string, search: string, error: string) =>
    plan(asked.id, "mutant", name, [
      { ...valid, path: `${valid.path}${valid.path.includes("?") ? "&" : "?"}${search}` },
      code === undefined ? answers("200") : errors(`400 ${code}`, error)
    ])
  return [
    one("an undocumented parameter", "surprise=1", "surprise unknown_parameter"),
    one("too many parameters", "a&".repeat(101), "non_field_errors max_length"),
    one("as many parameters as a head holds", "a&".repeat(7_000), "non_field_errors max_length")
  ]
}

const ofEvery = (asked: Operation): ReadonlyArray<Plan> => {
  const valid = validRequest(asked)
  const html: Request = { ...valid, headers: [...valid.headers, ["accept", "text/html"]] }
  const guarded: ReadonlyArray<Plan> = asked.answers.has(401)
    ? [
        plan(asked.id, "who", "no token", [
          { ...valid, who: "nobody" },
          answers("401 not_authenticated")
        ]),
        plan(asked.id, "who", "no token of ours", [
          { ...valid, headers: [...valid.headers, ["authorization", "Token x"]] },
          answers("401 authentication_failed")
        ]),
        plan(asked.id, "who", "a key that may not do this", [
          {
            ...valid,
            who: asked.method === "GET" || asked.id === "validateAccount" ? "writer" : "reader"
          },
          answers("403 permission_denied")
        ])
      ]
    : []
  return [
    plan(asked.id, "valid", "a valid request", [valid, answers(...validAnswers)]),
    plan(asked.id, "http", "no room for JSON", [html, answers("406 not_acceptable")]),
    plan(asked.id, "http", "another method", [
      {
        ...valid,
        method: asked.template.endsWith("/{external_account_number}/") ? "POST" : "PATCH"
      },
      answers("405 method_not_allowed")
    ]),
    plan(asked.id, "http", "headers that are too large", [
      { ...valid, headers: [...valid.headers, ["x-large", "x".repeat(16 * 1024)]] },
      answers("431 headers_too_large")
    ]),
    plan(asked.id, "http", "a Host that is none", [
      { ...valid, headers: [...valid.headers, ["host", "[::1"]] },
      both(answers("400 parse_error"), closes)
    ]),
    ...guarded,
    ...refusedByQuery(asked),
    ...(asked.body === null ? [] : refusedByBody(asked)),
    ...(asked.body === null && asked.method === "POST" ? refusedByIgnoredBody(asked) : [])
  ]
}

const codesOfAccounts = (day: Day): ReadonlyArray<Plan> => {
  const payload: Wire = put(domesticPayload(), "import_supplier", supplier)
  const first = Map.groupBy(mutationsOf(payload, day.begin), ({ code }) => code)
  return [...first.values()].flatMap(([mutation]) => {
    if (mutation === undefined) return []
    const { body, error, name } = mutation.make()
    return [
      plan("validateAccount", "mutant", name, [
        post(validatePath, { payload: body }),
        errors("400 account_failed_validation", `${error.attr} ${error.code}`)
      ])
    ]
  })
}

/** In the order in which they are sent. */
export const fixedPlans = (day: Day): ReadonlyArray<Plan> => [
  ...operations.flatMap(ofEvery),
  ...codesOfAccounts(day),
  ...statePlans,
  ...revertPlans
]
