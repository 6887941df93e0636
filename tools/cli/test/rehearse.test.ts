/** Books and cohorts are rehearsed on the whole system. */
import { expect, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { clientTenant, effectClient, team } from "@data-import/local/test/clientTenant"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { run as runSql, wholeSystem } from "@data-import/local/test/wholeSystem"
import { environmentOf, user } from "./onlineCommand.ts"
import { bookOf, storedOf } from "./sentBook.ts"

/** As if the real attempt of one account had broken off. */
const brokenOff = (supplier: string, number: string) =>
  runSql(
    (sql) => sql`
    with broken as (
      insert into import_attempts (import_id, id, dry_run, started_at, ended_at, outcome,
        payload_hash, judged_by)
      select import_id, 'broken', false, now(), now(), 'error', attempt.payload_hash, judged_by
      from import_attempts as attempt join import_processes on import_processes.id = import_id
      where supplier = ${supplier} and external_account_number = ${number}
      returning import_id
    )
    insert into rehearsal_changes (import_id) select import_id from broken`
  )

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "data-import rehearse",
  (it) => {
    it.effect("tries the pending imports of a cohort, and says what the real run would do", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const { batches } = yield* effectClient(tenant)
        const staging = { import_supplier: tenant.supplier, operation: "STAGE" } as const
        for (const [cohort, lines] of [
          ["w1", 9],
          ["w2", 3]
        ] as const) {
          const text = bookOf(lines).replaceAll("B-", `${cohort}-`)
          const bytes = Stream.make(new TextEncoder().encode(text))
          const { batch_id } = yield* batches.send({ ...staging, cohort }, bytes)
          yield* run("batch", "watch", batch_id)
        }
        const common = ["rehearse", "--supplier", tenant.supplier, "--team", team]
        const clean = yield* run(...common, "--cohort", "w1")
        expect(clean.status).toBe(0)
        expect(clean.err).toMatch(/^Rehearsing the cohort w1 of .* batch forecast [-0-9a-f]{36}/)
        expect(clean.out).toMatch(
          /lines: 9 lines = 9 would be created \+ 0 already \+ 0 would fail\n/
        )
        expect(clean.out).toMatch(/accounts: 9\nbalance: 11\.07\n/)
        expect(clean.out).toMatch(
          /would take: between .* 4 of 5 times; learnt from no earlier run\n/
        )
        const all = yield* run(...common, "--json")
        const forecast = JSON.parse(all.out) as { readonly batch_id: string }
        expect(forecast).toMatchObject({ lines: { total: 12, would_succeed: 12 }, problems: [] })
        const again = yield* run("batch", "forecast", forecast.batch_id)
        expect(again).toMatchObject({ status: 0, err: "" })
        expect(again.out).toMatch(/12 lines = 12 would be created/)
        expect((yield* storedOf(tenant)).accounts).toEqual([])
        const map = ["--map", home.write("columns.json", "{}")]
        const refused = { status: 2, err: expect.stringMatching(/go with a book/) as string }
        expect(yield* run(...common, ...map)).toMatchObject(refused)
      }).pipe(Effect.scoped)
    )

    it.effect("is compared with what happened, and exits with 1 if a line went otherwise", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { run } = yield* user(environmentOf(tenant))
        const { batches } = yield* effectClient(tenant)
        const bytes = Stream.make(new TextEncoder().encode(bookOf(3)))
        const staging = { import_supplier: tenant.supplier, operation: "STAGE" } as const
        yield* run("batch", "watch", (yield* batches.send(staging, bytes)).batch_id)
        const own = ["--supplier", tenant.supplier, "--team", team]
        const { out } = yield* run("rehearse", ...own, "--json")
        const { batch_id } = JSON.parse(out) as { readonly batch_id: string }
        const show = ["rehearsal", "show", batch_id]
        const before = yield* run(...show)
        expect(before.status).toBe(0)
        expect(before.out).toMatch(/^Forecast of the dry run/)
        yield* brokenOff(tenant.supplier, "B-0002")
        const after = yield* Effect.repeat(run(...show), { until: ({ status }) => status !== 0 })
        expect(after.status).toBe(1)
        expect(after.out).toMatch(/as predicted: 0\.00 %, 0 of 1 lines\n/)
        const line = /Surprises: 1\n.*\n2 +B-0002 +SUCCEEDED +FAILED_OTHERWISE +PENDING/
        expect(after.out).toMatch(line)
        const surprise = { line: 2, happened: "FAILED_OTHERWISE" }
        const json = yield* run(...show, "--json")
        expect(JSON.parse(json.out)).toMatchObject({ compared: 1, surprises: [surprise] })
      }).pipe(Effect.scoped)
    )

    it.effect("tries a book, stores nothing of it, and exits with 1 if lines would fail", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const book = home.write("book.ndjson", bookOf(20))
        const failed = ["--failed", home.path("failed.ndjson")]
        const own = ["--supplier", tenant.supplier, "--team", team, ...failed]
        const { err, out, status } = yield* run("rehearse", book, ...own)
        expect({ err, status }).toEqual({ status: 1, err: expect.stringMatching(/as a dry run: /) })
        expect(out).toMatch(/2 +2 +max_decimal_places +transfer_balance +10,20\n/)
        expect(out).toMatch(/20 lines = 18 would be created \+ 0 already \+ 2 would fail\n/)
        const json = yield* run("rehearse", book, ...own, "--json")
        expect(JSON.parse(json.out)).toMatchObject({
          failed_lines: 2,
          forecasts: [{ lines: { would_fail: 2 }, sums: { accounts: 18, balance: "22.14" } }]
        })
        expect((yield* storedOf(tenant)).accounts).toEqual([])
      }).pipe(Effect.scoped)
    )
  }
)
