/**
 * Personal data and secrets are in every field, and every request fails in every way. None of them
 * appears in a log, a trace, a metric or the body of an error.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Metric, type Scope } from "effect"
import { beforeAll, vi } from "vitest"
import { bodyBytes } from "@data-import/api/Limits"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { get as valueAt, isWire } from "@data-import/domain/testing/wire"
import { away } from "@data-import/postgres/testing/DatabaseProxy"
import * as Answer from "@data-import/server/http/Answer"
import { readJson } from "@data-import/server/testing/ReadJson"
import type { Route } from "@data-import/server/routing/Route"
import * as Service from "@data-import/server/lifecycle/Service"
import { undocumentedIn } from "@data-import/testbed/DocumentedMetrics"
import { accountNumber, personalCanaries, secretCanary, leaksIn } from "./Canaries.ts"
import { type Heard, makeDrive, whatever } from "./canaryDrive.ts"
import {
  privateKeysIn,
  run,
  WholeSystem,
  wholeSystemBehindProxy,
  type World
} from "./wholeSystem.ts"

const stem = secretCanary("")
const cardNumber = "4000087154000871"
const told = { message: "zqpersonal", number: cardNumber, key: secretCanary("vendor-answer") }

const card = { brand: "visa", last4: "0871", exp_month: 12, exp_year: 2099 }
const goodCard = { type: "card", customer: "zqpersonal", card, metadata: told }

/** A service that leaks canaries. */
const vendor: World["vendor"] = ({ url = "" }, response) => {
  const fault = ["refused", "broken", "strange", "credentials"].find((name) => url.includes(name))
  response.setHeader("x-request", told.key)
  if (fault === "strange") return void response.end(`<${JSON.stringify(told)}`)
  const status = { refused: 422, broken: 500, credentials: 401, good: 200 }[fault ?? "good"] ?? 200
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(fault === undefined ? goodCard : { error: told }))
}

const storeStatus = { now: 200 }
const store: World["store"] = (_incoming, response) => {
  const headers = { etag: '"e"', "x-amz-request-id": told.key, "x-amz-meta-owner": told.message }
  response.writeHead(storeStatus.now, headers).end()
}

const leakyTotal = Metric.counter("leaky_total", {
  description: "Of a service that tells.",
  attributes: { owner: "zqpersonal" }
})

/** A service that leaks in every way, to prove that the search finds leaks. */
const leaky = Service.layer(
  "leaky",
  Effect.succeed({
    routes: [
      {
        method: "POST",
        path: "/leak/",
        access: "public",
        answersJson: true,
        run: (call) =>
          Effect.gen(function* () {
            const body = yield* readJson(call, bodyBytes)
            yield* Effect.logDebug(JSON.stringify(body))
            yield* Effect.annotateCurrentSpan("body", JSON.stringify(body))
            yield* Metric.update(leakyTotal, 1)
            return Answer.json(200, body)
          })
      } satisfies Route
    ]
  })
)

const leak = Effect.gen(function* () {
  const { start } = yield* WholeSystem
  const url = yield* start(leaky, {})
  const text = yield* Effect.promise(async () => {
    const answer = await fetch(`${url}/leak/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: personalCanaries[0], number: accountNumber, key: stem })
    })
    return answer.text()
  })
  return [{ path: "/leak/", status: 400, text }]
})

const itemTables =
  /^(?!organisations|suppliers|api_keys|allowances|idempotency|migrations|refresh|failed)/

/** Runs the effect while the database refuses to keep any answer. */
const keepingNothing = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const alter = (change: string) =>
    run((sql) => sql.unsafe(`alter table idempotency_keys ${change}`))
  yield* alter("add constraint refusing check (answer is null) not valid")
  const result = yield* effect
  yield* alter("drop constraint if exists refusing")
  return result
})

/** Runs the effect while the database refuses every write of an account. */
const refusing = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const each = (change: string) =>
    run((sql) =>
      Effect.gen(function* () {
        const tables = yield* sql<{ name: string }>`
          select relname as name from pg_class
          where relnamespace = 'public'::regnamespace and relkind = 'r'`
        for (const { name } of tables) {
          if (itemTables.test(name)) yield* sql.unsafe(`alter table ${name} ${change}`)
        }
      })
    )
  yield* each("add constraint refusing check (false) not valid")
  const result = yield* effect
  yield* each("drop constraint if exists refusing")
  return result
})

/** Runs the effect while the database refuses every result of a line. */
const refusingLines = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const alter = (change: string) => run((sql) => sql.unsafe(`alter table batch_chunks ${change}`))
  yield* alter("add constraint refusing check (unfinished = line_count) not valid")
  const result = yield* effect
  yield* alter("drop constraint if exists refusing")
  return result
})

const driven = Effect.gen(function* () {
  const drive = yield* makeDrive
  const setup = yield* Configuration
  for (const status of [403, 500]) {
    storeStatus.now = status
    yield* drive.stage
  }
  storeStatus.now = 404
  yield* setup.configureSupplier(drive.supplier.code, { documentCheck: false })
  yield* drive.stage
  yield* setup.configureSupplier(drive.supplier.code, { documentCheck: true })
  yield* drive.processed
  yield* drive.queries
  storeStatus.now = 200
  yield* refusing(Effect.andThen(drive.stage, drive.processed))
  yield* drive.processed
  yield* drive.vendorFailures
  yield* refusing(drive.added)
  yield* keepingNothing(drive.added)
  yield* drive.everything
  yield* drive.batch
  yield* refusingLines(drive.batch)
  yield* drive.mutants
  yield* drive.noRequests
  yield* drive.delivered
  yield* away(whatever(drive.everything))
  return { heard: drive.heard, received: drive.received, secrets: drive.secrets }
}).pipe(Effect.orDie)

type Work = Effect.Effect<
  {
    readonly heard: ReadonlyArray<Heard>
    /** What a webhook was sent. */
    readonly received: ReadonlyArray<string>
    readonly secrets: ReadonlyArray<string>
  },
  never,
  Layer.Success<ReturnType<typeof wholeSystemBehindProxy>> | Scope.Scope
>

/** The output of the system during `run`, once the system has stopped. */
const evidenceOf = (work: Work) =>
  Effect.gen(function* () {
    const system = yield* WholeSystem
    const standard: Array<string> = []
    for (const stream of [process.stdout, process.stderr]) {
      vi.spyOn(stream, "write").mockImplementation((chunk) => standard.push(String(chunk)) > 0)
    }
    const { heard, received, secrets } = yield* work
    const metrics = yield* Effect.forEach(system.metricsPorts, (port) =>
      Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text())
    )
    const keys = privateKeysIn(system.keysFolder).map(({ d }) => d)
    const allSecrets = [...secrets, ...keys, ...system.passwords]
    return { system, standard, heard, received, metrics, secrets: allSecrets }
  }).pipe(
    Effect.scoped,
    Effect.ensuring(Effect.sync(() => vi.restoreAllMocks())),
    Effect.provide(
      Layer.fresh(
        wholeSystemBehindProxy({
          vendor,
          store,
          storeCredentials: [secretCanary("id"), secretCanary("s3")],
          settings: { PAYMENT_STRIPE_KEY: `sk_${secretCanary("vendor")}` }
        })
      )
    ),
    Effect.map(({ heard, metrics, received, secrets, standard, system }) => ({
      log: [...system.log, ...standard].join("\n"),
      traces: system.traces.join("\n"),
      metrics: metrics.join("\n"),
      heard,
      received,
      secrets
    })),
    Effect.runPromise
  )

type Evidence = Awaited<ReturnType<typeof evidenceOf>>

/** Errors, without the caller's transaction, which the contract requires to be repeated. */
const errorsIn = ({ heard }: Evidence): string =>
  heard
    .filter(({ status, text }) => status >= 400 || text.includes('"errors"'))
    .map(({ path, status, text }) => {
      const body: unknown = text === "" ? {} : JSON.parse(text)
      const isFixed = valueAt(body, "status") === "TRANSACTION_IMPORT_ERROR"
      const shown = isFixed && isWire(body) ? { ...body, transaction_data: {} } : body
      return `${status} ${path.split("?", 1)[0]}`.replaceAll(/zq\w+/g, "…") + JSON.stringify(shown)
    })
    .join("\n")

const canariesOf = ({ secrets }: Evidence) => [...personalCanaries, cardNumber, stem, ...secrets]

describe("personal data and secrets", { timeout: 180_000 }, () => {
  let evidence: Evidence

  beforeAll(async () => {
    evidence = await evidenceOf(driven)
  }, 180_000)

  it("were sent in every kind of request", () => {
    const statuses = new Set(evidence.heard.map(({ status }) => status))
    for (const status of [200, 201, 400, 401, 404, 415, 500, 503]) {
      expect(statuses, `an answer ${status}`).toContain(status)
    }
    expect(evidence.heard.length).toBeGreaterThan(100)
    expect(evidence.log).toContain('"message":"defect"')
    expect(evidence.log).toContain('"status":503')
    expect(evidence.log).toContain("payment vendor failed")
    expect(evidence.traces).toContain("POST /v1/data-import/notes/create/")
    expect(evidence.metrics).toContain('http_route="/v1/data-import/notes/create/"')
    expect(evidence.traces).toContain("PUT /v1/data-import/batches/:batch_id/lines/")
    expect(evidence.log).toContain("a worker of batches met an error")
    expect(evidence.traces).toContain("GET /v1/data-import/suppliers/:import_supplier/summary/")
    expect(evidence.traces).toContain("GET /v1/data-import/accounts/:kraken_account_number/")
    expect(evidence.metrics).toContain('route="/v1/data-import/events/"')
    const failures = evidence.heard.filter(
      ({ path, text }) => path.includes("/imports/") && text.includes('"path_does_not_exist')
    )
    expect(failures.length).toBeGreaterThan(0)
    const results = evidence.heard.filter(({ path }) => path.includes("/results/?done"))
    expect(results.length).toBeGreaterThan(5)
  })

  it("were sent in requests that the log and the traces describe", () => {
    const entries = evidence.log.split("\n").flatMap((line) => {
      const isAccess = line.includes('"message":"answered"') || line.includes('"chunk":')
      return isAccess ? [JSON.parse(line) as Readonly<Record<string, unknown>>] : []
    })
    for (const name of [
      "organisation",
      "api_key",
      "import_supplier",
      "batch",
      "chunk",
      "code",
      "upstream",
      "bytes_in",
      "bytes_out"
    ]) {
      expect(entries.filter((entry) => name in entry).length, name).toBeGreaterThan(0)
    }
    const read = entries.filter(
      ({ method, organisation, service }) =>
        service === "gateway" && method === "GET" && organisation !== undefined
    )
    expect(read.length).toBeGreaterThan(0)
    for (const name of ["organisation", "api_key", "supplier", "batch", "chunk"]) {
      expect(evidence.traces).toContain(`"data_import.${name}"`)
    }
    for (const name of ["error.type", "upstream.address", "http.request.body.size"]) {
      expect(evidence.traces).toContain(`"${name}"`)
    }
    for (const name of ["organisation_requests", "refusals", "document_lookup", "vendor_request"]) {
      expect(evidence.metrics).toContain(`data_import_${name}`)
    }
    expect(undocumentedIn(evidence.metrics)).toEqual([])
  })

  it("are not in the logs, at the most verbose level", () => {
    expect(leaksIn(evidence.log, [...canariesOf(evidence), accountNumber])).toEqual([])
  })

  it("are not in the traces", () => {
    expect(leaksIn(evidence.traces, [...canariesOf(evidence), accountNumber])).toEqual([])
  })

  it("are not in the metrics", () => {
    expect(leaksIn(evidence.metrics, [...canariesOf(evidence), accountNumber])).toEqual([])
  })

  it("are not in requests to webhooks, except the cohort that the client has named", () => {
    for (const event of ["error-v1", "complete-v1", "customer_email_due-v1", "batch.completed"]) {
      expect(evidence.received.join("\n")).toContain(event)
    }
    const bodies = evidence.received.map((body) => body.replace(/"cohort":"[^"]*"/, ""))
    expect(leaksIn(bodies.join("\n"), canariesOf(evidence))).toEqual([])
  })

  it("are not in the bodies of errors", () => {
    expect(leaksIn(errorsIn(evidence), canariesOf(evidence))).toEqual([])
  })
})

describe("the search for canaries", { timeout: 60_000 }, () => {
  it("finds a leak of a service", async () => {
    const evidence = await evidenceOf(
      Effect.map(leak, (heard) => ({ heard, received: [], secrets: [] }))
    )
    const [personal = ""] = personalCanaries
    const canaries = [personal, accountNumber, stem]
    for (const place of [evidence.log, evidence.traces, errorsIn(evidence)]) {
      const found = leaksIn(place, canaries)
      for (const canary of canaries) expect(found.join("\n")).toContain(`${canary}: …`)
    }
    expect(leaksIn(evidence.metrics, canaries)).toHaveLength(1)
  })

  it("finds encoded canaries, and nothing in harmless text", () => {
    const secret = "a secret/of+some=length"
    for (const spelling of [
      `x${secret}y`,
      encodeURIComponent(secret),
      Buffer.from(`Basic ${secret}.`).toString("base64"),
      Buffer.from(`${secret}, and more`).toString("base64"),
      Buffer.from(`user:${secret}@`).toString("base64"),
      secret.toUpperCase()
    ]) {
      expect(leaksIn(`before ${spelling} after`, [secret]).length, spelling).toBeGreaterThan(0)
    }
    expect(leaksIn("a secret of another kind", [secret])).toEqual([])
  })
})
