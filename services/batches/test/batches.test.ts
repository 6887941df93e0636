import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Reply } from "@data-import/api/testing/Client"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { auditTables, tablesBut } from "@data-import/postgres/testing/rows"
import { freshTenant, freshToken, type Tenant } from "@data-import/server/testing/Tenant"
import * as Service from "./batchesService.ts"

const codeOf = ({ json, status }: Reply) => [status, (json as { code: string }).code]
const stateOf = ({ json, status }: Reply) => [status, (json as { state: string }).state]
const countsOf = ({ json }: Reply) => (json as { counts: Record<string, number> }).counts

const account = (external_account_number: string, more: object = {}) => {
  const { import_supplier: _, ...rest } = domesticPayload()
  return { ...rest, external_account_number, ...more }
}

/** A customer that is born after the supplier's day. */
const unborn = { family_name: "Holm", date_of_birth: "2999-01-01" }

/** A batch whose lines have ended, by the path of its forecast. */
const ran = Effect.fnUntraced(function* (
  tenant: Tenant,
  settings: object,
  lines: ReadonlyArray<object>
) {
  const batch = yield* Service.begin(tenant, settings)
  yield* Service.upload(tenant, batch, lines)
  yield* Service.start(tenant, batch, lines.length)
  yield* Service.workAll
  return `${batch}forecast/`
})

layer(Service.service, { excludeTestServices: true })("batches over HTTP", (it) => {
  describe("a batch", () => {
    it.effect.each([false, true])("goes from its creation to its results, gzip: %s", (isGzip) =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const created = yield* Service.createFor(tenant, { name: "Wave 3" })
        expect(stateOf(created)).toEqual([201, "OPEN"])
        const batch = `${Service.root}${Service.idOf(created)}/`
        const lines = [account("A"), account("A"), account("B", { customers: [unborn] }), "no JSON"]
        const received = yield* Service.upload(tenant, batch, lines, { isGzip })
        expect([received.status, received.json]).toEqual([200, { lines_received: 4 }])
        expect(stateOf(yield* Service.start(tenant, batch, 4))).toEqual([200, "QUEUED"])
        const before = yield* Service.get(tenant, `${batch}results/`)
        expect([before.text, before.headers["results-complete"]]).toEqual(["", "false"])
        yield* Service.workAll
        const ended = yield* Service.get(tenant, batch)
        expect(stateOf(ended)).toEqual([200, "COMPLETED_WITH_FAILURES"])
        const none = { cancelled: 0, remaining: 0 }
        const counts = { received: 4, succeeded: 1, already: 1, failed: 2, ...none }
        expect(countsOf(ended)).toEqual(counts)
        const results = yield* Service.get(tenant, `${batch}results/`)
        expect(results.headers).toMatchObject({
          "content-type": "application/x-ndjson",
          "results-through": "4",
          "results-complete": "true"
        })
        expect(Service.linesOf(results)).toMatchObject([
          { line: 1, external_account_number: "A", outcome: "SUCCEEDED", status: 201 },
          { line: 2, external_account_number: "A", outcome: "ALREADY", status: 200 },
          { line: 3, outcome: "FAILED", status: 400, error: { code: "account_failed_validation" } },
          { line: 4, external_account_number: null, error: { code: "parse_error" } }
        ])
        const problems = yield* Service.get(tenant, `${batch}problems/`)
        expect(problems.json).toMatchObject({
          failed_lines: 2,
          problems: [
            { attr: "customers.*.date_of_birth", examples: [{ business_day: expect.anything() }] },
            { code: "parse_error", examples: [{ line: 4 }] }
          ]
        })
      })
    )

    it.effect("imports accounts", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const settings = { operation: "IMPORT", operations_team_name: "Migration Team" }
        const batch = yield* Service.begin(tenant, settings)
        yield* Service.upload(tenant, batch, [account("A"), account("B")])
        yield* Service.start(tenant, batch, 2)
        yield* Service.workAll
        const results = Service.linesOf(yield* Service.get(tenant, `${batch}results/`))
        expect(results).toMatchObject([{ outcome: "SUCCEEDED" }, { outcome: "SUCCEEDED" }])
        expect(results.map(({ status }) => status)).toEqual([201, 201])
        expect(new Set(results.map((line) => line["kraken_account_number"])).size).toBe(2)
      })
    )

    it.effect("that rehearses says what the real run would create, and takes no notice of it", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const blind = { ...tenant, ...(yield* freshToken(tenant.organisation, ["import:read"])) }
        const processing = { operation: "PROCESS", operations_team_name: "Migration Team" }
        const run = (settings: object, lines: ReadonlyArray<object>) => ran(tenant, settings, lines)
        yield* run({ operation: "STAGE" }, [account("A"), account("B")])
        const named = ["A", "B", "unknown"].map((number) => ({ external_account_number: number }))
        const tables = tablesBut(
          ...["import_attempts", "outbox", ...auditTables],
          ...["batches", "batch_chunks", "batch_rehearsed", "batch_problems", "batch_problem_sets"],
          ...["followed_rehearsals", "rehearsal_counts"]
        )
        const before = yield* tables
        const rehearsed = yield* run({ ...processing, dry_run: true }, named)
        yield* run({ ...processing, operation: "IMPORT", dry_run: true }, [account("C")])
        expect(yield* tables).toEqual(before)
        const forecast = yield* Service.get(tenant, rehearsed)
        expect([forecast.status, forecast.json]).toMatchObject([
          200,
          {
            state: "COMPLETED_WITH_FAILURES",
            lines: { total: 3, would_succeed: 2, already: 0, would_fail: 1, not_tried: 0 },
            documents_missing: 0,
            sums: {
              accounts: 2,
              balance: "100.00",
              ledger_balances: [{ ledgers: 2, balance: "100.00" }],
              statements: { count: 4 }
            },
            duration: { level: 0.8, past_runs: 0 }
          }
        ])
        const real = yield* run(processing, named)
        expect((yield* Service.get(tenant, rehearsed)).json).toMatchObject({
          lines: { would_succeed: 2 },
          duration: { past_runs: 0 }
        })
        expect((yield* Service.get(blind, rehearsed)).json).toMatchObject({ sums: null })
        expect(codeOf(yield* Service.get(tenant, real))).toEqual([404, "not_found"])
      })
    )

    it.effect("that rehearses is compared with what happened afterwards", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const blind = { ...tenant, ...(yield* freshToken(tenant.organisation, ["import:read"])) }
        const processing = { operation: "PROCESS", operations_team_name: "Migration Team" }
        const run = (settings: object, lines: ReadonlyArray<object>) => ran(tenant, settings, lines)
        yield* run({ operation: "STAGE" }, [account("A"), account("B")])
        const named = ["A", "B", "unknown"].map((number) => ({ external_account_number: number }))
        const rehearsed = yield* run({ ...processing, dry_run: true }, named)
        const real = yield* run(processing, named)
        const sums = {
          accounts: 2,
          balance: "100.00",
          ledger_balances: [{ ledgers: 2, balance: "100.00" }]
        }
        const outcome = rehearsed.replace("forecast", "outcome")
        yield* Service.followAll(rehearsed.split("/").at(-3) ?? "")
        expect((yield* Service.get(tenant, outcome)).json).toMatchObject({
          table: [
            { predicted: "FAILED", happened: "NOT_TRIED", lines: 1 },
            { predicted: "SUCCEEDED", happened: "CREATED", lines: 2 }
          ],
          finally: [
            { state: "IMPORTED", lines: 2 },
            { state: "NEVER_STAGED", lines: 1 }
          ],
          compared: 2,
          share_as_predicted: 1,
          sums: { predicted: sums, real: sums },
          predicted_duration: { level: 0.8 },
          real_run: { batch_id: real.split("/").at(-3) }
        })
        const created = yield* Service.get(tenant, `${outcome}lines/?happened=CREATED&limit=1`)
        expect(created.json).toMatchObject([{ line: 1, external_account_number: "A" }])
        const ofReal = real.replace("forecast", "outcome")
        for (const path of [ofReal, `${outcome.replace(/batches.[^/]+/, "batches/x")}lines/`]) {
          expect(codeOf(yield* Service.get(tenant, path))).toEqual([404, "not_found"])
        }
        const noFilter = yield* Service.get(tenant, `${outcome}lines/?happened=NEVER`)
        expect(codeOf(noFilter)).toEqual([400, "request_failed_validation"])
        expect((yield* Service.get(blind, outcome)).json).toMatchObject({ sums: null })
      })
    )

    it.effect("answers results by outcome and in pages", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const batch = yield* Service.begin(tenant, { operation: "VALIDATE" })
        yield* Service.upload(tenant, batch, [account("A"), "{}", account("C"), "{}"])
        yield* Service.start(tenant, batch, 4)
        yield* Service.workAll
        const page = Effect.fnUntraced(function* (query: string) {
          const reply = yield* Service.get(tenant, `${batch}results/?${query}`)
          const { headers } = reply
          const lines = Service.linesOf(reply).map(({ line }) => line)
          return [lines, headers["results-through"], headers["results-complete"]]
        })
        expect(yield* page("outcome=FAILED")).toEqual([[2, 4], "4", "true"])
        expect(yield* page("limit=2")).toEqual([[1, 2], "2", "false"])
        expect(yield* page("after_line=2")).toEqual([[3, 4], "4", "true"])
        expect(yield* page("after_line=4")).toEqual([[], "4", "true"])
      })
    )
  })

  describe("an upload", () => {
    it.effect("is refused with another media type", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const batch = yield* Service.begin(tenant)
        const headers = { "content-type": "application/json" }
        const refused = yield* Service.put(tenant, `${batch}lines/`, "{}", headers)
        expect(codeOf(refused)).toEqual([415, "unsupported_media_type"])
      })
    )
  })

  describe("a condition", () => {
    it.effect("answers 304 for the current tag of the batch", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const batch = yield* Service.begin(tenant)
        const { headers } = yield* Service.get(tenant, batch)
        const tag = headers["etag"] ?? ""
        expect(tag).toMatch(/^W\/"/)
        for (const [condition, status] of [
          [tag, 304],
          [tag.slice(2), 304],
          [`"other", ${tag}`, 304],
          ["*", 304],
          [`"other"`, 200],
          ["nonsense", 200]
        ] as const) {
          const reply = yield* Service.get(tenant, batch, { "if-none-match": condition })
          expect([reply.status, reply.headers["etag"]], condition).toEqual([status, tag])
          expect(reply.text === "", condition).toBe(status === 304)
        }
      })
    )

    it.effect("waits for a change", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const batch = yield* Service.begin(tenant)
        const { headers } = yield* Service.get(tenant, batch)
        const condition = { "if-none-match": headers["etag"] ?? "" }
        const [waited] = yield* Effect.all(
          [
            Service.get(tenant, `${batch}?wait=20`, condition),
            Service.upload(tenant, batch, [account("A")])
          ],
          { concurrency: "unbounded" }
        )
        expect(countsOf(waited)).toMatchObject({ received: 1 })
      })
    )
  })

  it.effect("lists the batches of a supplier in pages, the newest first", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const made: Array<string> = []
      for (const name of ["a", "b", "c"]) {
        made.unshift(Service.idOf(yield* Service.createFor(tenant, { name })))
      }
      const listed = ({ json }: Reply) =>
        (json as ReadonlyArray<{ batch_id: string }>).map(({ batch_id }) => batch_id)
      const path = `${Service.root}?import_supplier=${tenant.supplier.code}`
      const whole = yield* Service.get(tenant, path)
      expect(listed(whole)).toEqual(made)
      expect(whole.headers).not.toHaveProperty("link")
      const first = yield* Service.get(tenant, `${path}&limit=2`)
      expect(listed(first)).toEqual(made.slice(0, 2))
      const [, next = ""] = /^<([^>]+)>; rel="next"$/.exec(first.headers["link"] ?? "") ?? []
      const second = yield* Service.get(tenant, next)
      expect([listed(second), second.headers["link"]]).toEqual([made.slice(2), undefined])
      expect(listed(yield* Service.get(tenant, `${path}&after=nonsense`))).toEqual([])
    })
  )
})
