/**
 * A supplier's migration through the gateway, with tokens of the auth service: that the parts stand
 * together. What each of them answers by itself is tested beside it.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { expect, layer, vi } from "@effect/vitest"
import { Context, Duration, Effect, FileSystem, Layer } from "effect"
import { type Reply, type Request, send } from "@data-import/api/testing/Client"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { get as valueAt, type Wire } from "@data-import/domain/testing/wire"
import { layerWith } from "@data-import/postgres/connection/Database"
import { layerPorts } from "@data-import/postgres/Storage"
import { freshUrl, databaseUsersAt } from "@data-import/postgres/testing/TestDatabase"
import { persistently } from "@data-import/server/testing/RunningService"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"
import { decode, type Demo } from "../DemoFile.ts"
import * as DemoTenant from "../DemoTenant.ts"
import * as Services from "../Services.ts"

class DemoRun extends Context.Service<DemoRun, Demo>()("test/DemoRun") {}

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "data-import-journey-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** All services in this process, on a database and a free port of their own, with the demo tenant. */
const demoRun = Layer.effect(
  DemoRun,
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const dataDir = yield* temporaryFolder
    const { operator, ...databaseUsers } = databaseUsersAt(yield* freshUrl)
    vi.stubEnv("PORT", "0")
    vi.stubEnv("LOG_LEVEL", "error")
    const { baseUrl } = yield* Services.start({ dataDir, databaseUsers })
    vi.unstubAllEnvs()
    const statementTimeout = Duration.seconds(20)
    const storage = Layer.merge(layerPorts, tokenSecrets).pipe(
      Layer.provide(layerWith({ url: operator, poolSize: 1, statementTimeout })),
      Layer.fresh
    )
    yield* Effect.provide(DemoTenant.ensure(dataDir, baseUrl), storage)
    return yield* decode(yield* fs.readFileString(join(dataDir, "demo.json")))
  })
).pipe(Layer.provide(NodeServices.layer), Layer.orDie)

const ask = (request: Request) => Effect.flatMap(DemoRun, ({ baseUrl }) => send(baseUrl, request))

const headersFor = (token: string) => ({
  authorization: `Token ${token}`,
  "content-type": "application/json"
})

const post = (token: string, path: string, body: unknown) =>
  ask({ path, headers: headersFor(token), body: JSON.stringify(body) })

const get = (token: string, path: string) => ask({ path, headers: headersFor(token) })

/** What the auth service answers to this input. */
const obtain = (input: Readonly<Record<string, string>>) =>
  ask({
    path: "/v1/graphql/",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      query: `mutation ($input: ObtainServiceTokenInput!) {
        obtainServiceToken(input: $input) { token refreshToken refreshExpiresIn payload }
      }`,
      variables: { input }
    })
  })

const tokenIn = ({ json }: Reply) => String(valueAt(json, "data.obtainServiceToken.token"))

const demoToken = Effect.flatMap(DemoRun, ({ apiKey }) =>
  Effect.map(obtain({ APIKey: apiKey }), tokenIn)
)

const validatePath = "/v1/data-import/validate-account/"
const stagePath = "/v1/data-import/account-import-process/create-or-update/"
const processPath = "/v1/data-import/account-import-process/process/"

const keyOf = (number: string) => ({
  import_supplier: "DEMO_ENERGY",
  external_account_number: number
})

const accountOf = (number: string): Wire => ({ ...domesticPayload(), ...keyOf(number) })

const statusPath = (number: string) =>
  `/v1/data-import/account-transfer-status/DEMO_ENERGY/${encodeURIComponent(number)}/`

const listPath = (kind: string) => `/v1/data-import/${kind}-account-import-processes/DEMO_ENERGY/`

const processOf = (number: string, options: Wire = {}) => ({
  payload: { ...keyOf(number), operations_team_name: "Migration Team", ...options },
  task_params: {}
})

const withCode = (code: string): unknown => expect.objectContaining({ code })

/** Takes the account to the platform, and gives its number there. */
const importAccount = Effect.fnUntraced(function* (token: string, number: string) {
  expect((yield* post(token, stagePath, { payload: accountOf(number) })).status).toBe(201)
  const processed = yield* post(token, processPath, processOf(number))
  expect(processed.status).toBe(201)
  return String(valueAt(processed.json, "kraken_account_number"))
})

layer(demoRun, { excludeTestServices: true })("through the gateway", (it) => {
  it.effect("an account is validated, staged, dryRun and processed, and found at every step", () =>
    Effect.gen(function* () {
      const token = yield* demoToken
      const number = "NL-0004711"
      const payload = accountOf(number)
      const statusOf = Effect.map(get(token, statusPath(number)), ({ json }) => json)
      const listOf = (kind: string) =>
        Effect.map(get(token, listPath(kind)), ({ json }) =>
          (json as ReadonlyArray<Wire>).filter((it) => it["external_account_number"] === number)
        )
      expect((yield* get(token, "/v1/data-import/limits/")).json).toMatchObject({
        nesting_depth: 32
      })
      const validated = yield* post(token, validatePath, { payload })
      expect([validated.status, valueAt(validated.json, "transfer_balance")]).toEqual([200, 50])
      expect(yield* statusOf).toEqual(withCode("not_found"))
      expect((yield* post(token, stagePath, { payload })).status).toBe(201)
      const again = yield* post(token, stagePath, { payload })
      expect([again.status, again.json]).toEqual([200, keyOf(number)])
      const unknown = { status: "UNKNOWN", kraken_account_number: "" }
      expect(yield* statusOf).toEqual(unknown)
      const entry = { external_account_number: number }
      const pending = { ...entry, kraken_account_number: null, account_created_at: null }
      expect(yield* listOf("pending")).toEqual([pending])
      const dryRun = yield* post(token, processPath, processOf(number, { dry_run: true }))
      expect([dryRun.status, dryRun.json]).toEqual([400, withCode("dry_run_successful")])
      expect(yield* statusOf).toEqual(unknown)
      const processed = yield* post(token, processPath, processOf(number))
      expect(processed.status).toBe(201)
      const created = processed.json as { readonly kraken_account_number: string }
      expect(yield* statusOf).toEqual({ status: "COMPLETED", ...created })
      expect(yield* listOf("pending")).toEqual([])
      const imported = [{ ...entry, ...created, account_created_at: expect.any(String) }]
      expect(yield* listOf("imported")).toEqual(imported)
      expect(yield* listOf("all")).toEqual(imported)
      for (const repeated of [
        post(token, processPath, processOf(number)),
        post(token, stagePath, { payload })
      ]) {
        const { json, status } = yield* repeated
        const code = "account_import_process_already_imported"
        expect([status, json]).toEqual([
          400,
          { ...entry, ...created, code, detail: expect.any(String) }
        ])
      }
    })
  )

  it.effect("an imported account is added to, once for each addition", () =>
    Effect.gen(function* () {
      const token = yield* demoToken
      const key = keyOf("added to")
      const path = (what: string) => `/v1/data-import/${what}/create/`
      const note = { ...key, notes: [{ body: "Called.", created_at: "2025-05-01T10:00:00Z" }] }
      expect((yield* post(token, path("notes"), note)).status).toBe(404)
      const number = yield* importAccount(token, "added to")
      const transaction = {
        transaction_id: "T-1",
        transaction_date: "2025-05-01",
        amount: 12.5,
        type: "CHARGE"
      }
      const statement = {
        bill_period_from_date: "2024-12-01",
        bill_period_to_date: "2024-12-31",
        statement_id: "S-1",
        issued_date: "2025-01-02",
        number: "1",
        gross_amount: 12.5
      }
      const instruction = { ...key, vendor: "STRIPE", reference: "pm_1", type: "CARD" }
      const statuses = (json: unknown) => JSON.stringify(json).match(/(NOTE|TRANSACTION)_\w+/g)?.[0]
      for (const round of ["first", "again"]) {
        const notes = yield* post(token, path("notes"), note)
        expect(statuses(notes.json)).toBe(
          round === "first" ? "NOTE_CREATION_SUCCESS" : "NOTE_ALREADY_EXISTS"
        )
        const transactions = yield* post(token, path("transactions"), {
          ...key,
          transactions: [transaction]
        })
        expect(statuses(transactions.json)).toBe(
          round === "first" ? "TRANSACTION_ADDED_TO_ACCOUNT" : "TRANSACTION_ALREADY_EXISTS"
        )
        const statements = yield* post(token, path("historical-statements"), {
          ...key,
          statements: [statement]
        })
        expect(statements.json).toEqual({ ...key, statements: [statement] })
        const instructed = yield* post(token, path("payment-instruction"), instruction)
        expect(instructed.json).toEqual({ kraken_account_number: number, reference: "pm_1" })
        const all = [notes, transactions, statements, instructed]
        expect(all.map(({ status }) => status)).toEqual([201, 201, 201, 201])
      }
    })
  )

  it.effect("an organisation sees nothing of another's", () =>
    Effect.gen(function* () {
      const { rivalApiKey } = yield* DemoRun
      const token = yield* demoToken
      const rival = tokenIn(yield* obtain({ APIKey: rivalApiKey }))
      yield* importAccount(token, "not the rival's")
      const paths = [statusPath("not the rival's"), ...["all", "pending", "imported"].map(listPath)]
      for (const path of paths) {
        expect((yield* get(token, path)).status).toBe(200)
        expect((yield* get(rival, path)).status).toBe(404)
      }
      for (const [path, body] of [
        [validatePath, { payload: accountOf("not the rival's") }],
        [stagePath, { payload: accountOf("not the rival's") }],
        [processPath, processOf("not the rival's")],
        ["/v1/data-import/notes/create/", { ...keyOf("not the rival's"), notes: [{ body: "x" }] }]
      ] as const) {
        const { json, status } = yield* post(rival, path, body)
        expect(status).toBe(400)
        expect(valueAt(json, "errors.0")).toEqual(withCode("import_supplier_does_not_exist"))
      }
    })
  )

  it.effect("twenty processes at once make one account", () =>
    Effect.gen(function* () {
      const token = yield* demoToken
      yield* post(token, stagePath, { payload: accountOf("wanted by twenty") })
      const replies = yield* Effect.all(
        Array.from({ length: 20 }, () =>
          persistently(post(token, processPath, processOf("wanted by twenty")))
        ),
        { concurrency: "unbounded" }
      )
      const created = replies.filter(({ status }) => status === 201)
      expect(created).toHaveLength(1)
      expect(replies.filter(({ status }) => status === 400)).toHaveLength(19)
      expect((yield* get(token, statusPath("wanted by twenty"))).json).toEqual({
        status: "COMPLETED",
        kraken_account_number: valueAt(created[0]?.json, "kraken_account_number")
      })
    })
  )

  it.effect("an odd number is the same everywhere, in paths and links too", () =>
    Effect.gen(function* () {
      const token = yield* demoToken
      const numbers = ["~a/b", "~a%2Fb", "~ü \u{1F600}?#&+"]
      for (const number of numbers) {
        yield* importAccount(token, number)
        const { json } = yield* get(token, statusPath(number))
        expect(json, number).toMatchObject({ status: "COMPLETED" })
      }
      const listed: Array<unknown> = []
      for (let path = `${listPath("imported")}?limit=1&after=~`; path !== "";) {
        const page = yield* get(token, path)
        listed.push(valueAt(page.json, [0, "external_account_number"]))
        path = /^<(.*)>/.exec(page.headers["link"] ?? "")?.[1] ?? ""
      }
      expect(listed.toSorted()).toEqual(numbers.toSorted())
    })
  )

  it.effect("a token is refreshed once, and a made-up one opens no service", () =>
    Effect.gen(function* () {
      const { apiKey } = yield* DemoRun
      const first = yield* obtain({ APIKey: apiKey })
      const refreshToken = String(valueAt(first.json, "data.obtainServiceToken.refreshToken"))
      const refreshed = yield* obtain({ refreshToken })
      const limits = "/v1/data-import/limits/"
      expect((yield* get(tokenIn(refreshed), limits)).status).toBe(200)
      const again = yield* obtain({ refreshToken })
      expect(valueAt(again.json, "errors.0.extensions.errorCode")).toBe("INVALID_REFRESH_TOKEN")
      const [head = "", claims = ""] = tokenIn(first).split(".")
      const forged = `${head}.${claims}.${"A".repeat(86)}`
      for (const path of [limits, statusPath("1"), listPath("all")]) {
        expect((yield* get(forged, path)).json).toEqual(withCode("authentication_failed"))
        expect((yield* ask({ path })).json).toEqual(withCode("not_authenticated"))
      }
      for (const path of [validatePath, stagePath, processPath, "/v1/data-import/notes/create/"]) {
        expect((yield* post(forged, path, {})).json).toEqual(withCode("authentication_failed"))
      }
    })
  )

  it.effect("what the services refuse of a request arrives as they said it", () =>
    Effect.gen(function* () {
      const token = yield* demoToken
      const headers = { ...headersFor(token), "x-request-id": "journey-1" }
      const tooLarge = Buffer.alloc(10 * 1024 * 1024 + 1, " ")
      const requests: ReadonlyArray<readonly [Request, number]> = [
        [{ path: stagePath, body: tooLarge }, 413],
        [{ path: stagePath, body: tooLarge, headers: { "transfer-encoding": "chunked" } }, 413],
        [{ path: stagePath, body: "{}", headers: { "content-encoding": "gzip" } }, 415],
        [{ path: stagePath, body: "\uFEFF{}" }, 400],
        [{ path: stagePath, method: "GET" }, 405],
        [{ path: listPath("all"), method: "DELETE" }, 405],
        [{ path: listPath("all"), headers: { accept: "text/csv" } }, 406],
        [{ path: `${listPath("all")}?limit=0` }, 400],
        [{ path: listPath("all").slice(0, -1) }, 308],
        [{ path: "/v1/data-import/unknown/" }, 404]
      ]
      for (const [request, status] of requests) {
        const reply = yield* ask({ ...request, headers: { ...headers, ...request.headers } })
        expect(reply.status, JSON.stringify(request.path)).toBe(status)
      }
    })
  )
})
