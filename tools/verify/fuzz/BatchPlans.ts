/**
 * The fixed cases of batches in every state and with every parameter, and random ones: hostile
 * lines are processed, and each gets the outcome of the single endpoint.
 */
import { domesticPayload } from "@data-import/domain/testing/samples"
import { get as valueAt, withSource } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { type Expectation, get, type Plan, plan, post, type Reply, type Request } from "./Case.ts"
import type { Step } from "./Case.ts"
import { operation, operations } from "./Document.ts"
import { answers, both, errors, errorsOf, has, hasLength } from "./Expectation.ts"
import * as Batches from "./FixedBatches.ts"
import { pathsIn } from "./Schema.ts"
import { validatePath } from "./Steps.ts"
import { rivalSupplier, supplier } from "./TenantNames.ts"
import { inNewBatch } from "./UploadPlans.ts"
import { validRequest } from "./ValidRequests.ts"
import { oddSegments, sources } from "./HostileTexts.ts"

const { batchPath } = Batches

const notFound = answers("404 not_found")
const conflict = (state: string) => both(answers("409 batch_state_conflict"), has("state", state))

const act = (id: string, action: string): Request => ({
  ...get(batchPath(id, `${action}/`)),
  method: "POST"
})

const start = (id: string, total_lines: unknown): Request =>
  post(batchPath(id, "start/"), { payload: { total_lines } })

const upload = (id: string): Request => Batches.put(batchPath(id, "lines/"), Batches.openLines)

const create = (settings: object): Request =>
  post(Batches.batchesPath, { payload: { import_supplier: supplier, ...settings } })

const state = (id: string, name: string, request: Request, expect: Expectation) =>
  plan(id, "state", name, [request, expect])

const states: ReadonlyArray<Plan> = [
  ...[
    [Batches.pausedBatch, "PAUSED"],
    [Batches.cancelledBatch, "CANCELLED"],
    [Batches.endedBatch, "COMPLETED_WITH_FAILURES"],
    [Batches.pendingBatch, "OPEN"]
  ].map(([id = "", name = ""]) =>
    state("sendBatchLines", `lines to one that is ${name}`, upload(id), conflict(name))
  ),
  ...["pause", "resume"].flatMap((action) =>
    [
      [Batches.openBatch, "OPEN"],
      [Batches.cancelledBatch, "CANCELLED"],
      [Batches.endedBatch, "COMPLETED_WITH_FAILURES"]
    ].map(([id = "", name = ""]) =>
      state(`${action}Batch`, `${action} one that is ${name}`, act(id, action), conflict(name))
    )
  ),
  state(
    "cancelBatch",
    "cancel an ended one",
    act(Batches.endedBatch, "cancel"),
    conflict("COMPLETED_WITH_FAILURES")
  ),
  state(
    "startBatch",
    "start a cancelled one",
    start(Batches.cancelledBatch, 0),
    conflict("CANCELLED")
  ),
  state(
    "startBatch",
    "another number of lines",
    start(Batches.openBatch, 3),
    both(answers("400 batch_line_count_mismatch"), has("lines_received", 2), has("total_lines", 3))
  ),
  state(
    "startBatch",
    "as many lines as nobody has",
    start(Batches.openBatch, 999_999_999_999_999),
    answers("400 batch_line_count_mismatch")
  )
]

const teamless = { operation: "IMPORT", operations_team_name: "Nobody" }
const retrying = (retry_of: string) => create({ operation: "VALIDATE", retry_of })

const creations: ReadonlyArray<Plan> = [
  state(
    "createBatch",
    "an unknown team",
    create(teamless),
    errors(
      "400 operations_team_name_does_not_exist",
      "operations_team_name operations_team_name_does_not_exist"
    )
  ),
  state("createBatch", "a retry of nothing", retrying(Batches.noBatch), notFound),
  state(
    "createBatch",
    "a retry of no id",
    retrying("../.."),
    errors("400 request_failed_validation", "retry_of invalid")
  ),
  state(
    "createBatch",
    "a retry of one that goes on",
    retrying(Batches.pausedBatch),
    conflict("PAUSED")
  ),
  state(
    "createBatch",
    "a retry whose lines are deleted",
    retrying(Batches.deletedBatch),
    answers("410 batch_lines_deleted")
  ),
  {
    operation: "createBatch",
    kind: "state",
    name: "a retry",
    steps: () => [
      {
        request: retrying(Batches.endedBatch),
        expect: both(answers("201"), has("counts.received", 1), has("lines_left_out", 0)),
        next: ({ value }) => [
          { request: act(String(valueAt(value, "batch_id")), "cancel"), expect: answers("200") }
        ]
      }
    ]
  },
  {
    operation: "createBatch",
    kind: "state",
    name: "more than an organisation may have",
    steps: () => [
      {
        request: create({ operation: "VALIDATE", name: Batches.oneOfTooMany }),
        times: 25,
        expect: both(answers("201", "409 batch_limit_exceeded"), (replies) =>
          replies.some(({ status }) => status === 409) ? [] : ["there is no limit"]
        )
      }
    ]
  }
]

const withTag = (path: string, tag: string): Request => ({
  ...get(path),
  headers: [["if-none-match", tag]]
})

const ended = batchPath(Batches.endedBatch)

const waiting: ReadonlyArray<Plan> = [
  {
    operation: "getBatch",
    kind: "http",
    name: "nothing that has changed",
    steps: () => [
      {
        request: get(ended),
        expect: answers("200"),
        next: ({ headers }) => {
          const tag = headers["etag"] ?? ""
          return [
            { request: withTag(ended, tag), expect: answers("304") },
            { request: withTag(`${ended}?wait=1`, tag), expect: answers("304") },
            { request: withTag(`${ended}?wait=20`, `W/"other"`), expect: answers("200") },
            { request: withTag(ended, tag.replace("W/", "")), expect: answers("304") }
          ]
        }
      }
    ]
  },
  plan("getBatch", "http", "a tag of 12 KB", [
    withTag(`${ended}?wait=20`, `W/"${"x,".repeat(6_000)}"`),
    answers("200")
  ])
]

const queryErrors: ReadonlyArray<readonly [id: string, query: string, error: string]> = [
  ["getBatch", "wait=21", "wait max_value"],
  ["getBatch", "wait=-1", "wait min_value"],
  ["getBatch", "wait=1.5", "wait invalid"],
  ["getBatch", "wait=1&wait=2", "wait invalid"],
  ["listBatches", `import_supplier=${supplier}&limit=10001`, "limit max_value"],
  ["listBatches", "limit=1", "import_supplier required"],
  ["listBatches", `import_supplier=${supplier}&after=%00`, "after invalid"],
  ["listBatchResults", "after_line=-1", "after_line min_value"],
  ["listBatchResults", "after_line=1000001", "after_line max_value"],
  ["listBatchResults", "limit=1000001", "limit max_value"],
  ["listBatchResults", "outcome=failed", "outcome invalid_choice"],
  ["listBatchResults", "outcome=__proto__", "outcome invalid_choice"],
  ["listBatchResults", "done=maybe", "done invalid"]
]

const list = (query: string): Request => get(`${Batches.batchesPath}?${query}`)

const queries: ReadonlyArray<Plan> = [
  ...queryErrors.map(([id, query, error]) => {
    const [path = ""] = validRequest(operation(id)).path.split("?", 1)
    return plan(id, "mutant", query, [
      get(`${path}?${query}`),
      errors("400 request_failed_validation", error)
    ])
  }),
  state("listBatches", "a supplier of nobody", list("import_supplier=NOBODY"), notFound),
  state("listBatches", "a supplier of another", list(`import_supplier=${rivalSupplier}`), notFound),
  ...["nonsense", Batches.noBatch, "'", "0f0f0f0f"].map((after) =>
    state(
      "listBatches",
      `after ${after}`,
      list(`import_supplier=${supplier}&after=${after}`),
      both(answers("200"), hasLength("", 0))
    )
  ),
  ...[
    ["outcome=FAILED", 1],
    ["outcome=CANCELLED", 0],
    ["after_line=1", 1],
    ["after_line=1000000", 0],
    ["limit=1", 1],
    ["done=true", 2]
  ].map(([query, length]) =>
    state(
      "listBatchResults",
      String(query),
      get(`${ended}results/?${query}`),
      both(answers("200"), hasLength("", Number(length)))
    )
  )
]

const ofBatch = operations.filter(({ template }) => template.includes("{batch_id}"))

/** A batch that does not exist, or belongs to another organisation. */
const names: ReadonlyArray<Plan> = ofBatch.flatMap((asked) => {
  const [own = ""] = /[0-9a-f]{8}-[0-9a-f-]+/.exec(validRequest(asked).path) ?? []
  const named = (name: string): Request => {
    const valid = validRequest(asked)
    return { ...valid, path: valid.path.replace(own, () => name) }
  }
  return [
    plan(asked.id, "who", "a rival", [{ ...validRequest(asked), who: "rival" }, notFound]),
    ...[Batches.noBatch, own.toUpperCase(), `${own}%00`, `{${own}}`, "00", "%2e%2e"].map((name) =>
      plan(asked.id, "path", `the batch ${name}`, [named(name), notFound])
    )
  ]
})

const oddNames: fc.Arbitrary<Plan> = fc
  .tuple(fc.constantFrom(...ofBatch), fc.constantFrom(...oddSegments))
  .map(([asked, name]) => {
    const valid = validRequest(asked)
    const path = asked.template.replace("{batch_id}", () => name)
    return plan(asked.id, "batch", `the batch ${name.slice(0, 40)}`, [
      { ...valid, path, malformed: true },
      answers("404 not_found", "400 parse_error")
    ])
  })

const account = { ...domesticPayload(), import_supplier: rivalSupplier, notes: [], statements: [] }

/** The result of one line must equal the answer of the single endpoint: the code and the errors. */
const meansTheSame = (line: Reply["value"]): Expectation => {
  const wanted = valueAt(line, "error") === undefined ? "" : errorsOf(asReply(line)).join(", ")
  return (replies) =>
    replies.flatMap((reply) => {
      const isSame =
        reply.status === valueAt(line, "status") &&
        errorsOf(reply).slice(0, 100).join(", ") === wanted
      return isSame ? [] : [`the line came to ${JSON.stringify(line).slice(0, 600)}`]
    })
}

const asReply = (line: Reply["value"]): Reply =>
  ({ value: valueAt(line, "error") }) as unknown as Reply

/** Requests the results until they are complete. */
const results = (path: string, sent: ReadonlyArray<string>, tries = 12): Step => {
  const lines = sent.join("\n")
  const request = { ...get(`${path}results/`, "rival"), sentBefore: lines }
  return {
    request,
    expect: answers("200"),
    next: ({ headers, value }) => {
      if (headers["results-complete"] === "true") {
        return (value as ReadonlyArray<unknown>).map((line, index) => ({
          request: post(validatePath, `{"payload":${sent[index]}}`, "rival"),
          expect: meansTheSame(line)
        }))
      }
      const late: Step = { request, expect: () => ["the batch does not end"] }
      if (tries === 0) return [late]
      const wait = { ...get(`${path}?wait=1`, "rival"), headers: [["if-none-match", "*"]] as const }
      return [{ request: wait, expect: answers("200", "304") }, results(path, sent, tries - 1)]
    }
  }
}

/** The supplier of a line is that of its batch. */
const placesInLine = pathsIn(account).filter(([name]) => name !== "import_supplier")

/** Lines that must each get the result of the single endpoint. */
const hostileLines = (): fc.Arbitrary<Plan> => {
  const line = fc
    .tuple(fc.constantFrom(...placesInLine), fc.constantFrom(...Object.values(sources)))
    .map(([path, source]) => withSource(account, path, source))
  return fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => ({
    operation: "listBatchResults",
    kind: "batch",
    name: "hostile lines",
    steps: () =>
      inNewBatch({ operation: "VALIDATE" }, (path) => [
        {
          request: Batches.put(`${path}lines/`, lines.join("\n"), "rival"),
          expect: both(answers("200"), has("lines_received", lines.length))
        },
        {
          request: post(`${path}start/`, { payload: { total_lines: lines.length } }, "rival"),
          expect: answers("200")
        },
        results(path, lines),
        {
          request: { ...get(`${path}problems/`, "rival"), sentBefore: lines.join("\n") },
          expect: answers("200")
        }
      ])
  }))
}

const unknownFields = Object.fromEntries(
  Array.from({ length: 8_000 }, (_, index) => [`field ${index}`, index])
)

/** In the order in which they are sent. */
export const batchCases: ReadonlyArray<Plan> = [
  ...states,
  ...creations,
  ...waiting,
  ...queries,
  ...names,
  plan("createBatch", "worst", "unknown fields", [
    create({ operation: "VALIDATE", ...unknownFields }),
    answers("400 request_failed_validation")
  ])
]

/** Odd names of batches, and lines that are processed. */
export const batchPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = [
  { weight: 2, arbitrary: oddNames },
  { weight: 3, arbitrary: hostileLines() }
]
