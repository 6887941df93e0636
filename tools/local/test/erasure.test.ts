/**
 * A customer with a canary in every field, known to every part of the system, is erased. After
 * that, no column of any table has any of it, except the number that is kept. A new column fails
 * this test until it is erased, or is listed with those without personal data.
 */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { type Reply, send } from "@data-import/api/testing/Client"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { CurrentOperator } from "@data-import/domain/access/Operator"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { freshSupplier, minimalAccount, supplierOf } from "@data-import/domain/testing/freshNames"
import {
  domesticPayload,
  instructionPayload,
  notesPayload,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import { isWire, putAll, type Wire } from "@data-import/domain/testing/wire"
import { rows } from "@data-import/postgres/testing/rows"
import { persistently } from "@data-import/server/testing/RunningService"
import { personalCanaries, withCanaries } from "./Canaries.ts"
import { healthyWorld } from "./healthyWorld.ts"
import { impersonal, unmarked } from "./impersonalColumns.ts"
import { placesOf, textColumns } from "./storedTexts.ts"
import { tokenFor, wholeSystem, WholeSystem } from "./wholeSystem.ts"
import { auditFault } from "@data-import/postgres/testing/auditLog"

const root = "/v1/data-import"
const team = "Migration Team"
const number = "zqnumber-871"
const units = [871540012, 871540228]
const canaries = [...personalCanaries, number, ...units.map(String), "2019-06-14", "2019-07-01"]

/** Texts that are compared with something, and so have no canary of `withCanaries`. */
const free =
  /^(?:transaction_id|statement_id|key|reason|rate_band|operations_team_name|sales_subchannel|product_code)$/

let ids = 0
const marked = (value: unknown, name = ""): unknown => {
  if (Array.isArray(value)) {
    return name === "units" ? units : value.map((one) => marked(one, name))
  }
  if (isWire(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([inner, part]) => [inner, marked(part, inner)])
    )
  }
  return typeof value === "string" && free.test(name) ? `zqpersonal-${name}-${++ids}` : value
}

const withAll = (payload: Wire): Wire => marked(withCanaries(payload)) as Wire

const card = { brand: "zqpersonal", last4: "4242", exp_month: 12, exp_year: 2099 }

/** A free object whose member has a name that was sent, and a text that is refused. */
const withNul = { key: "zqpersonal", value: { zqpersonal: "\0" } }

/** Where the number is kept, so that the customer is not imported again. */
const tombstone = "import_processes.external_account_number"

const headersOfStore = {
  "content-length": "7",
  etag: '"zqpersonal"',
  "x-amz-checksum-sha256": `${"zq".repeat(21)}A=`
}

let isStored = true
const world = {
  ...healthyWorld(),
  vendor: ((_incoming, response) => {
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ type: "card", customer: "zqpersonal", card }))
  }) satisfies ReturnType<typeof healthyWorld>["vendor"],
  store: ((_incoming, response) => {
    if (isStored) response.writeHead(200, headersOfStore).end()
    else response.writeHead(404).end()
  }) satisfies ReturnType<typeof healthyWorld>["store"]
}

/** A client of a fresh supplier, whose requests go through the gateway. */
const makeClient = Effect.gen(function* () {
  const { gatewayUrl } = yield* WholeSystem
  const setup = yield* Configuration
  yield* Effect.ignore(setup.createTeam(team))
  const { caller, keyOf, supplier } = yield* freshSupplier
  const sibling = supplierOf(caller.organisation)
  yield* setup.createSupplier(sibling)
  const checkDocuments = (documentCheck: boolean) =>
    setup.configureSupplier(supplier.code, { documentCheck })
  const token = yield* tokenFor(caller.organisation)
  let posts = 0
  // A request of a batch or a certificate is about no customer.
  const keyFor = (path: string) =>
    `${/^\/(batches|certificates)\//.test(path) ? "key" : "zqpersonal"}-${++posts}`
  const ask = (path: string, body?: unknown, own: { method?: string; type?: string } = {}) =>
    persistently(
      send(gatewayUrl, {
        path: root + path,
        headers: {
          authorization: `Token ${token}`,
          "content-type": own.type ?? "application/json",
          "user-agent": "zqpersonal",
          ...(body !== undefined && !own.method && { "idempotency-key": keyFor(path) })
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
        ...(own.method !== undefined && { method: own.method })
      })
    )
  return { ask, caller, checkDocuments, keyOf, sibling, supplier }
})
type Client = Effect.Success<typeof makeClient>

const memberOf = (reply: Reply, name: string) =>
  (reply.json as Readonly<Record<string, unknown>>)[name]

const expecting = Effect.fnUntraced(function* <E, R>(
  status: number,
  request: Effect.Effect<Reply, E, R>
) {
  const reply = yield* request
  expect(reply.status, reply.text).toBe(status)
  return reply
})

/** A batch of these lines, worked on to its end. */
const batch = Effect.fnUntraced(function* (
  { ask, supplier }: Client,
  operation: string,
  lines: ReadonlyArray<unknown>
) {
  const settings = ["IMPORT", "PROCESS"].includes(operation) ? { operations_team_name: team } : {}
  const payload = { import_supplier: supplier.code, operation, ...settings }
  const created = yield* expecting(201, ask("/batches/", { payload }))
  const path = `/batches/${String(memberOf(created, "batch_id"))}/`
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)))
  const type = "application/x-ndjson"
  yield* expecting(200, ask(`${path}lines/`, text.join("\n"), { method: "PUT", type }))
  yield* expecting(200, ask(`${path}start/`, { payload: { total_lines: lines.length } }))
  const ended = yield* Effect.repeat(Effect.delay(ask(path), "50 millis"), {
    until: (reply) => memberOf(reply, "finished_at") !== null,
    times: 400
  })
  expect(memberOf(ended, "finished_at")).not.toBeNull()
  return { path, counts: memberOf(ended, "counts") }
})

const requestsOf = (key: ImportKey) => {
  const account = putAll(withAll(domesticPayload()), {
    ...key,
    "metadata.0.value.code": "zqpersonal"
  })
  const adding = (path: string, body: Wire) => [path, { ...withAll(body), ...key }] as const
  return {
    account,
    processing: { payload: { ...key, operations_team_name: team } },
    additions: [
      adding("/notes/create/", notesPayload()),
      adding("/transactions/create/", transactionsPayload()),
      adding("/historical-statements/create/", statementsPayload()),
      [
        "/payment-instruction/create/",
        { ...instructionPayload(), ...key, reference: "pm_zqpersonal" }
      ]
    ] as ReadonlyArray<readonly [path: string, body: Wire]>
  }
}

/** The answer about a batch, except for the speed of the last minute, which changes. */
const describedBatch = ({ ask }: Client, path: string) =>
  Effect.map(ask(path), ({ json }) => ({
    ...(json as Wire),
    lines_per_second: null,
    estimated_finish_at: null
  }))

/** What the board adds. */
const comment = rows(
  (sql) => sql`
  insert into comments (id, supplier, import_id, about, text, said_by, said_at)
  select gen_random_uuid(), supplier, id, 'comment', 'zqpersonal', 'board:mia', now()
  from import_processes where external_account_number = ${number}`
)

/** Brings the customer into every table, by requests, batches and failures. */
const fill = Effect.fnUntraced(function* (client: Client, key: ImportKey) {
  const { ask, checkDocuments, keyOf } = client
  const { account, additions, processing } = requestsOf(key)
  const staging = "/account-import-process/create-or-update/"
  const process = "/account-import-process/process/"
  yield* checkDocuments(false)
  yield* expecting(201, ask(staging, { payload: account, cohort: "wave 1" }))
  yield* expecting(400, ask(staging, { payload: { ...account, billing_email: "zqpersonal" } }))
  isStored = false
  yield* checkDocuments(true)
  yield* expecting(400, ask(process, processing))
  isStored = true
  const first = yield* expecting(201, ask(process, processing))
  const reverting = {
    kraken_account_number: memberOf(first, "kraken_account_number"),
    reason: "zqpersonal"
  }
  const path = `/imports/${key.import_supplier}/${number}/`
  yield* expecting(200, ask(`${path}revert/`, { payload: reverting }))
  const created = yield* expecting(201, ask(process, { ...processing, task_params: {} }))
  for (const [adding, body] of additions) yield* expecting(201, ask(adding, body))
  // No payload has a value that was valid when it was staged.
  yield* rows(
    (sql) => sql`
      update import_attempts
      set errors = '[{"code": "max_length", "attr": "zqpersonal", "detail": "zqpersonal"}]'
      where errors <> '[]'`
  )
  const [[, notes] = ["", {}]] = additions
  const other = minimalAccount(keyOf("another"))
  const broken = { ...account, billing_email: "zqpersonal", customers: [{ zqpersonal: 1 }] }
  const named = `"external_account_number": "${number}"`
  const unreadable = [
    `{${named}, zqpersonal`,
    `{"external_account_number": " ${number} ", "zqpersonal a": 1}`,
    String.raw`{"external_account_number": "zqnumber\u002d871\t", zqpersonal`,
    `{${named}, "zqpersonal b": 1, "external_account_number": "another"}`,
    `{${named}, "payload": {"external_account_number": "another", "zqpersonal c": 1}}`,
    `${number};zqpersonal`
  ]
  const own = { ...account, customers: [], zqpersonal: 1, metadata: [withNul] }
  const batches = [
    yield* batch(client, "VALIDATE", [account, other, broken, ...unreadable]),
    yield* batch({ ...client, supplier: client.sibling }, "VALIDATE", [account, ...unreadable]),
    yield* batch(
      client,
      "VALIDATE",
      Array.from({ length: 7 }, () => own)
    ),
    yield* batch(client, "IMPORT", [account, other, { ...account, billing_name: "zqpersonal 2" }]),
    yield* batch(client, "NOTES", [notes, { ...notes, notes: [{ body: "zqpersonal 3" }] }]),
    yield* batch(client, "PROCESS", [{ external_account_number: number }])
  ]
  const accountNumber = String(memberOf(created, "kraken_account_number"))
  const certified = { import_supplier: key.import_supplier }
  yield* expecting(201, ask("/certificates/", { payload: certified }))
  yield* comment
  // The batch worker computes an entry that was cleared at some moment.
  yield* rows(
    (sql) => sql`
    update accounts set entry = 'zqpersonal', entry_sums = '{}', entry_hash = decode('00', 'hex')
    where number = ${accountNumber} and entry is null`
  )
  yield* expecting(200, ask(`/accounts/${accountNumber}/`))
  yield* expecting(200, ask(path))
  return { accountNumber, batches, other }
})

const erase = Effect.fnUntraced(function* (key: ImportKey) {
  const requestId = RequestId.make(crypto.randomUUID())
  const erasing = (yield* Erasures).erase({ key, at: yield* DateTime.now })
  return yield* Effect.provideService(erasing, CurrentOperator, { name: "Ada", requestId })
})

/** Every sum of money, and the counts. */
const money = rows(
  (sql) => sql`
    select (select sum(balance) from accounts) as balances,
      (select sum(ledger_balance) from ledgers) as ledgers,
      (select json_agg(json_build_array(transaction_date, moved_from_date, amount, type,
        effect_on_balance) order by account_id, sequence) from transactions) as transactions,
      (select sum(net_amount) from transaction_line_items) as lines,
      (select json_agg(to_jsonb(tax_items)) from transaction_tax_items as tax_items) as taxes,
      (select json_agg(json_build_array(gross_amount, bill_period_from_date, issued_date)
        order by account_id, sequence) from statements) as statements`
)

const summaryOf = ({ ask, supplier }: Client) =>
  Effect.map(ask(`/suppliers/${supplier.code}/summary/`), ({ json }) => json as Wire)

/** How many values there are in the columns that can have no canary. */
const unmarkedValues = Effect.forEach(unmarked, (name) => {
  const [table = "", column = ""] = name.split(".")
  return Effect.map(
    rows(
      (sql) => sql<{ count: number }>`
      select count(${sql(column)})::integer as count from ${sql(table)}`
    ),
    ([row]) => [name, row?.count ?? 0] as const
  )
}).pipe(Effect.map((counts) => new Map(counts)))

const codesOf = (replies: ReadonlyArray<Reply>) =>
  replies.map((reply) => [reply.status, memberOf(reply, "code")])

/** What is answered to every request about the customer. */
const answers = Effect.fnUntraced(function* (
  { ask, supplier }: Client,
  key: ImportKey,
  accountNumber: string
) {
  const { account, additions, processing } = requestsOf(key)
  const staging = "/account-import-process/create-or-update/"
  const path = `/imports/${supplier.code}/${number}/`
  const refused = [
    yield* ask(staging, { payload: account }),
    yield* ask(`${staging}?create_only=true`, { payload: account }),
    yield* ask("/account-import-process/process/", processing),
    yield* ask(path, { cohort: "x" }, { method: "PATCH" })
  ]
  for (const [path, body] of additions) refused.push(yield* ask(path, body))
  expect(codesOf(refused)).toEqual(refused.map(() => [400, "account_import_process_erased"]))
  yield* expecting(200, ask("/validate-account/", { payload: account }))
  expect((yield* ask(`/account-transfer-status/${supplier.code}/${number}/`)).json).toEqual({
    status: "UNKNOWN",
    kraken_account_number: ""
  })
  expect((yield* ask(path)).json).toMatchObject({
    state: "ERASED",
    kraken_account_number: null,
    payload_hash: null,
    attempts: [
      {
        code: "account_failed_validation",
        errors: [{ attr: "non_field_errors", code: "max_length" }]
      },
      { outcome: "CREATED", errors: [] },
      { outcome: "CREATED", errors: [] }
    ],
    reverted: [{ reason: null }]
  })
  yield* expecting(404, ask(`/accounts/${accountNumber}/`))
  const all = yield* ask(`/accounts/?import_supplier=${supplier.code}`)
  expect(all.text.trim().split("\n")).toHaveLength(1)
  const listed = Effect.fnUntraced(function* (list: string) {
    const { json } = yield* ask(`/${list}`)
    return (json as ReadonlyArray<Wire>).map((each) => each["external_account_number"])
  })
  const of = `account-import-processes/${supplier.code}/`
  expect(yield* listed(`all-${of}?state=ERASED`)).toEqual([number])
  expect(yield* listed(`pending-${of}`)).toEqual([])
  expect(yield* listed(`imported-${of}`)).toEqual(["another"])
})

/** The events about the customer. */
const eventsOf = ({ ask }: Client) =>
  Effect.repeat(Effect.delay(ask("/events/?limit=100"), "50 millis"), {
    until: ({ text }) => text.includes("erased-v1"),
    times: 100
  }).pipe(
    Effect.map(({ json }) =>
      ((json as Wire)["events"] as ReadonlyArray<Wire>).filter(
        (event) => event["external_account_number"] === number
      )
    )
  )

layer(wholeSystem(world), { excludeTestServices: true, timeout: "2 minutes" })(
  "a customer who is erased",
  (it) => {
    it.effect("is in no table any more, and the money and the log are unchanged", () =>
      Effect.gen(function* () {
        const client = yield* makeClient
        const key = client.keyOf(number)
        const { accountNumber, batches } = yield* fill(client, key)
        const filled = yield* placesOf(canaries)
        const known = [...filled.keys(), ...unmarked, ...impersonal]
        expect(known.toSorted()).toEqual((yield* textColumns).toSorted())
        const values = yield* unmarkedValues
        const [summary, sums] = [yield* summaryOf(client), yield* money]
        const described = yield* Effect.forEach(batches, ({ path }) => describedBatch(client, path))

        expect(yield* erase(key)).toMatchObject({ _tag: "Erased", isRepeated: false, lines: 27 })
        expect([...(yield* placesOf(canaries)).keys()]).toEqual([tombstone])
        for (const [name, count] of yield* unmarkedValues) {
          expect(count, name).toBeLessThan(values.get(name) ?? 0)
        }
        expect(yield* money).toEqual(sums)
        expect(yield* auditFault).toBeNull()
        const states = { ...(summary["states"] as Wire), IMPORTED: 1, ERASED: 1 }
        const expected = { ...summary, at: expect.any(String), states }
        expect(yield* summaryOf(client)).toEqual(expected)
        const after = yield* Effect.forEach(batches, ({ path }) => describedBatch(client, path))
        expect(after).toEqual(described)

        const results = yield* client.ask(`${batches[0]?.path ?? ""}results/`)
        expect(results.text.match(/"erased":true/g)).toHaveLength(8)
        yield* answers(client, key, accountNumber)
        expect(yield* eventsOf(client)).toMatchObject([
          { name: "data_import.import_process.erased-v1", kraken_account_number: null }
        ])
        const again = yield* batch(client, "IMPORT", [requestsOf(key).account])
        expect(again.counts).toMatchObject({ failed: 1 })
        const { text } = yield* client.ask(`${again.path}results/`)
        expect(text).toContain("account_import_process_erased")
        expect(yield* erase(key)).toMatchObject({ isRepeated: true, lines: 1 })
        expect([...(yield* placesOf(canaries)).keys()]).toEqual([tombstone])
        expect(yield* auditFault).toBeNull()
      })
    )
  }
)
