/** Books and cohorts are rehearsed on the whole system. */
import { expect, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { clientTenant, effectClient, team } from "@data-import/local/test/clientTenant"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem } from "@data-import/local/test/wholeSystem"
import { environmentOf, user } from "./onlineCommand.ts"
import { bookOf, storedOf } from "./sentBook.ts"

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
