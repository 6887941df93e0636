/** The commands about batches and events, on the whole system. */
import { expect, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { clientTenant, effectClient, team } from "@data-import/local/test/clientTenant"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem } from "@data-import/local/test/wholeSystem"
import { environmentOf, user } from "./onlineCommand.ts"
import { bookOf, importing } from "./sentBook.ts"

interface Line {
  readonly line: number
  readonly outcome: string
  readonly external_account_number?: string
  readonly kraken_account_number?: string
}

const linesIn = (out: string): ReadonlyArray<Line> =>
  out.split("\n").map((line) => JSON.parse(line) as Line)

/** A batch that was started, with a tenth of its lines faulty. */
const started = Effect.fnUntraced(function* (lines: number, settings: object = {}) {
  const tenant = yield* clientTenant()
  const { run } = yield* user(environmentOf(tenant))
  const { batches } = yield* effectClient(tenant)
  const payload = {
    import_supplier: tenant.supplier,
    operation: "IMPORT",
    operations_team_name: team,
    name: "wave",
    ...settings
  } as const
  const bytes = new TextEncoder().encode(bookOf(lines))
  const { batch_id: id } = yield* batches.send(payload, Stream.make(bytes))
  return { batches, id, run, tenant }
})

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "data-import batch",
  (it) => {
    it.effect("watches, shows and lists batches, and prints their results", () =>
      Effect.gen(function* () {
        const { id, run, tenant } = yield* started(20)
        const watched = yield* run("batch", "watch", id)
        expect(watched.status).toBe(1)
        expect(watched.out).toMatch(/state: COMPLETED_WITH_FAILURES/)
        expect(watched.out).toMatch(/20 lines = 18 succeeded \+ 0 already \+ 2 failed/)
        const shown = yield* run("batch", "show", id)
        expect(shown).toMatchObject({ status: 0, err: "" })
        expect(shown.out).toMatch(/2 +2 +max_decimal_places +transfer_balance +10,20\n/)
        const json = yield* run("batch", "show", id, "--json")
        expect(JSON.parse(json.out)).toMatchObject({
          counts: { failed: 2 },
          problems: [{ lines: 2 }]
        })
        const { out } = yield* run("batch", "list", tenant.supplier)
        expect(out).toMatch(
          /^batch_id .*\n[-0-9a-f]{36} +\S+ +IMPORT +off +wave +COMPLETED_WITH_FAILURES/
        )
        const failed = yield* run("batch", "results", id, "--outcome", "failed")
        expect(linesIn(failed.out)).toMatchObject([{ line: 10 }, { line: 20, outcome: "FAILED" }])
        const later = yield* run("batch", "results", id, "--after-line", "18", "--follow")
        expect(linesIn(later.out).map(({ line }) => line)).toEqual([19, 20])
        const missing = yield* run("batch", "show", "0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10")
        expect(missing).toMatchObject({ status: 2, err: expect.stringMatching(/not_found/) })
      }).pipe(Effect.scoped)
    )

    it.effect("prints results with the rows and values of the supplier's own file", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const columns = {
          Number: "/external_account_number",
          Empty: { to: "/unknown_occupier", type: "boolean" },
          Balance: { to: "/transfer_balance", type: "decimal" }
        }
        const map = home.write("columns.json", JSON.stringify({ columns }))
        const rows = ["Number,Empty,Balance", "C-1,true,1.00", "C-2,true,1.234", "C-3,true,no"]
        const book = home.write("book.csv", rows.join("\n"))
        const flags = ["--map", map]
        const failed = ["--failed", home.path("failed.ndjson")]
        const sent = yield* run(...importing(tenant, book), ...flags, ...failed, "--json")
        const { batch_id: id } = JSON.parse(sent.out) as { readonly batch_id: string }
        const ofBook = (file: string, of: string) =>
          run("batch", "results", of, "--book", file, ...flags)
        const remedy = expect.stringMatching(/\.$/) as string
        const error = (value: string) => ({
          attr: "transfer_balance",
          column: "Balance",
          value,
          remedy
        })
        const expected = [
          { line: 1, row: 2, outcome: "SUCCEEDED" },
          { line: 2, row: 3, error: { errors: [error('"1.234"')] } },
          { line: 3, row: 4, error: { errors: [error('"no"')] } }
        ]
        expect(linesIn((yield* ofBook(book, id)).out)).toMatchObject(expected)
        const retried = yield* run("batch", "retry", id, "--json")
        const { batch_id: retry } = JSON.parse(retried.out) as { readonly batch_id: string }
        yield* run("batch", "watch", retry)
        const again = linesIn((yield* ofBook(book, retry)).out)
        expect(again).toMatchObject([
          { line: 1, row: 3 },
          { line: 2, row: 4 }
        ])
        const other = home.write("other.csv", [rows[0], rows[2], rows[1]].join("\n"))
        expect(yield* ofBook(other, id)).toMatchObject({
          status: 2,
          err: expect.stringMatching(/Line 1 of .*other\.csv is not the one that was sent/)
        })
        const alone = yield* run("batch", "results", id, ...flags)
        expect(alone).toMatchObject({ status: 2, err: expect.stringMatching(/go with --book/) })
      }).pipe(Effect.scoped)
    )

    it.effect("takes a wave back, and one account that is named", () =>
      Effect.gen(function* () {
        const { id, run, tenant } = yield* started(20)
        yield* run("batch", "watch", id)
        const why = ["--reason", "Wrong sign"]
        const refused = yield* run("batch", "revert", tenant.supplier, ...why)
        expect(refused).toMatchObject({ status: 2, err: expect.stringMatching(/--yes/) })
        const imported = yield* run("batch", "results", id, "--outcome", "succeeded")
        const [first, ...others] = linesIn(imported.out)
        const named = [String(first?.external_account_number), "--account"]
        const account = String(first?.kraken_account_number)
        const one = yield* run("import", "revert", tenant.supplier, ...named, account, ...why)
        expect(one.out).toMatch(/is reverted, and its import is pending again/)
        const { out } = yield* run("batch", "revert", tenant.supplier, ...why, "--yes", "--json")
        const { batch_id } = JSON.parse(out) as { readonly batch_id: string }
        const watched = yield* run("batch", "watch", batch_id, "--json")
        expect(JSON.parse(watched.out)).toMatchObject({
          operation: "REVERT",
          counts: { received: others.length, succeeded: others.length }
        })
      }).pipe(Effect.scoped)
    )

    it.effect("resumes, pauses and cancels", () =>
      Effect.gen(function* () {
        const { batches, id, run } = yield* started(3_000, { max_failures: 0 })
        yield* Stream.runHead(Stream.filter(batches.follow(id), ({ state }) => state === "PAUSED"))
        expect((yield* run("batch", "show", id)).out).toMatch(/paused by: FAILURES/)
        const resumed = yield* run("batch", "resume", id, "--json")
        expect(JSON.parse(resumed.out)).toMatchObject({ batch_id: id, paused_by: [] })
        yield* run("batch", "pause", id)
        expect((yield* run("batch", "show", id)).out).toMatch(/paused by: .*CALLER/)
        expect(yield* run("batch", "cancel", id)).toMatchObject({ status: 0, err: "" })
        const watched = yield* run("batch", "watch", id, "--json")
        expect(watched.status).toBe(1)
        expect(JSON.parse(watched.out)).toMatchObject({
          state: "CANCELLED",
          counts: { remaining: 0 }
        })
        const late = yield* run("batch", "pause", id)
        expect(late).toMatchObject({
          status: 2,
          err: expect.stringMatching(/batch_state_conflict/)
        })
      }).pipe(Effect.scoped)
    )

    it.effect("retries failed lines in another batch, without those that are imported by now", () =>
      Effect.gen(function* () {
        const { batches, id, run, tenant } = yield* started(30)
        yield* run("batch", "watch", id)
        const payload = {
          import_supplier: tenant.supplier,
          operation: "IMPORT",
          operations_team_name: team
        } as const
        const corrected = tenant.accountOf("B-0030")
        const { batch_id: correction } = yield* batches.send(payload, Stream.make(corrected))
        yield* run("batch", "watch", correction)
        const { out, status } = yield* run("batch", "retry", id)
        expect(status).toBe(0)
        expect(out).toMatch(/tries 2 lines again. .*\n1 line is left out, being done or replaced/)
        const [retry = ""] = /[-0-9a-f]{36}/.exec(out) ?? []
        const watched = yield* run("batch", "watch", retry, "--json")
        expect(JSON.parse(watched.out)).toMatchObject({ retry_of: id, counts: { received: 2 } })
        const results = yield* run("batch", "results", retry)
        expect(linesIn(results.out)).toMatchObject([{ source_line: 10 }, { source_line: 20 }])
      }).pipe(Effect.scoped)
    )

    it.effect("prints events for people and for machines", () =>
      Effect.gen(function* () {
        const { batches, id, run, tenant } = yield* started(1)
        yield* Stream.runDrain(batches.follow(id))
        const all = ["events", "tail", "--after", "0", "--until-now"]
        const isComplete = (out: string) => out.includes("batch.completed")
        // An event appears soon after its change.
        const { out } = yield* Effect.repeat(run(...all), { until: ({ out }) => isComplete(out) })
        expect(out).toMatch(/^\d+ {2}\S+Z {2}data_import.*staged-v1 {2}\S+ {2}B-0001$/m)
        const json = yield* run(...all, "--supplier", tenant.supplier, "--json")
        const names = json.out
          .split("\n")
          .map((line) => (JSON.parse(line) as { name: string }).name)
        expect(names).toContain("data_import.batch.completed-v1")
        expect((yield* run("events", "tail", "--until-now")).out).toBe("")
      }).pipe(Effect.scoped)
    )
  }
)
