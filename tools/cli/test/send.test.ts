/** Books are sent to the whole system: the final report, and what is refused before. */
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { clientTenant, effectClient, team } from "@data-import/local/test/clientTenant"
import { type Fault, once, type Seen } from "@data-import/local/test/faultyGateway"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem } from "@data-import/local/test/wholeSystem"
import { environmentOf, user } from "./onlineCommand.ts"
import { bookOf, failedIn, importedOf, importing, storedOf } from "./sentBook.ts"

const isCreation = ({ method, path }: Seen): boolean =>
  method === "POST" && path.endsWith("/batches/")

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "send",
  (it) => {
    it.effect("stages a book, packed or plain, and forgets it when it has ended", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const packed = home.write("book.ndjson.gz", gzipSync(bookOf(9)))
        const failed = ["--failed", home.path("failed.ndjson")]
        const args = ["send", packed, "--supplier", tenant.supplier, "--cohort", "w1", ...failed]
        const { err, out, status } = yield* run(...args)
        expect({ err, status }).toEqual({ status: 0, err: expect.stringMatching(/^Sending: /) })
        expect(out).toMatch(
          /9 lines = 9 succeeded \+ 0 already \+ 0 failed \+ 0 cancelled .*COMPLETED\)/
        )
        expect(failedIn(home.path("failed.ndjson"))).toEqual([])
        expect(readdirSync(home.path("state/data-import/sends"))).toEqual([])
        const again = yield* run(...args, "--json")
        expect(JSON.parse(again.out)).toMatchObject({
          operation: "STAGE",
          state: "COMPLETED",
          counts: { received: 9, succeeded: 0, already: 9, failed: 0, remaining: 0 },
          problems: [],
          failed_lines: 0
        })
        const { accounts, batches } = yield* storedOf(tenant)
        expect(accounts).toEqual([])
        expect(batches).toMatchObject([{ cohort: "w1" }, { name: "book.ndjson.gz" }])
      }).pipe(Effect.scoped)
    )

    it.effect("imports a book of which a tenth fails, with counts that add up", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const lines = bookOf(50).split("\n")
        lines[2] = "no json"
        lines[3] = `{"external_account_number": "B-0004" , "transfer_balance": 1.10E0}`
        const book = home.write("book.ndjson", lines.join("\n"))
        const file = home.path("failed.ndjson")
        const { out, status } = yield* run(...importing(tenant, book), "--failed", file)
        expect(status).toBe(1)
        expect(out).toMatch(/50 lines = 43 succeeded \+ 0 already \+ 7 failed \+ 0 cancelled/)
        expect(out).toMatch(/5 +5 +max_decimal_places +transfer_balance +10,20,30,40,50/)
        expect(out).toMatch(/failed.ndjson has the 7 lines .*\n.*batch retry [-0-9a-f]{36}/)
        const failed = failedIn(file)
        expect(failed.map(({ line }) => line)).toEqual([3, 4, 10, 20, 30, 40, 50])
        expect(failed[0]).toMatchObject({ sent_text: "no json", error: { code: "parse_error" } })
        expect(readFileSync(file, "utf8")).toContain(`"sent":${lines[3]}`)
        expect(failed[2]?.sent?.external_account_number).toBe("B-0010")
      }).pipe(Effect.scoped)
    )

    it.effect("sends the rows of a CSV book, and names those that failed", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const rows = ["Account;Balance", "C-1;1.50", "", "C-2;1.505", "C-3;2"]
        const book = home.write("book.csv", rows.join("\n"))
        const map = {
          delimiter: ";",
          constants: { "/unknown_occupier": true },
          columns: {
            Account: "/external_account_number",
            Balance: { to: "/transfer_balance", type: "decimal" }
          }
        }
        const columns = home.write("columns.json", JSON.stringify(map))
        const file = home.path("failed.ndjson")
        const args = [...importing(tenant, book), "--failed", file]
        expect((yield* run(...args)).err).toMatch(/is CSV: --map tells which column/)
        const { out, status } = yield* run(...args, "--map", columns)
        expect(status).toBe(1)
        expect(out).toMatch(/3 lines = 2 succeeded \+ 0 already \+ 1 failed/)
        expect(failedIn(file)).toMatchObject([
          { line: 2, row: 4, sent: { external_account_number: "C-2" } }
        ])
      }).pipe(Effect.scoped)
    )

    it.effect("refuses repeated numbers before it sends anything, and sends the last if told", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const [first = "", ...rest] = bookOf(3).trimEnd().split("\n")
        const last = first.replace("1.230", "4.560")
        const book = home.write(
          "book.ndjson",
          [first, first, ...rest, last, "", " \r\n"].join("\n")
        )
        const args = [...importing(tenant, book), "--failed", home.path("failed.ndjson")]
        const refused = yield* run(...args)
        expect(refused).toMatchObject({ out: "", status: 2 })
        expect(refused.err).toMatch(
          /B-0001 \(line 1 and line 5\).*Nothing was sent. Give each its own.*--last-wins/
        )
        expect((yield* storedOf(tenant)).batches).toEqual([])
        const { err, out } = yield* run(...args, "--last-wins", "--json")
        expect(err).toMatch(/^Sending: .*\n--last-wins leaves out 2 lines\.$/m)
        expect(JSON.parse(out)).toMatchObject({ counts: { received: 3, succeeded: 3 } })
        const reconciling = ["reconcile", book, "--supplier", tenant.supplier, "--last-wins"]
        expect(yield* run(...reconciling)).toMatchObject({ status: 0 })
      }).pipe(Effect.scoped)
    )

    it.effect("continues when connections break, without duplicates", () =>
      Effect.gen(function* () {
        const isUpload = ({ method }: Seen) => method === "PUT"
        const cuts: ReadonlyArray<readonly [(seen: Seen) => boolean, Fault]> = [
          [isCreation, { _tag: "CutAnswer", after: 9 }],
          [isUpload, { _tag: "CutRequest", after: 300 }],
          [isUpload, { _tag: "CutAnswer", after: 3 }],
          [({ path }) => path.endsWith("/start/"), { _tag: "CutAnswer", after: 9 }],
          [({ path }) => path.includes("?wait="), { _tag: "CutAnswer", after: 9 }],
          [({ path }) => path.includes("/results/"), { _tag: "CutAnswer", after: 300 }]
        ]
        const plans = cuts.map(([fits, fault]) => once(fits, fault))
        const tenant = yield* clientTenant((seen) => {
          for (const plan of plans) {
            const fault = plan(seen)
            if (fault !== undefined) return fault
          }
          return undefined
        })
        const { home, run } = yield* user(environmentOf(tenant))
        const book = home.write("book.ndjson", bookOf(100))
        const file = home.path("failed.ndjson")
        const { out, status } = yield* run(...importing(tenant, book), "--failed", file, "--json")
        expect(status).toBe(1)
        const counts = { received: 100, succeeded: 90, already: 0, failed: 10, remaining: 0 }
        expect(JSON.parse(out)).toMatchObject({ counts })
        expect(failedIn(file)).toHaveLength(10)
        const { accounts, batches } = yield* storedOf(tenant)
        expect(batches).toHaveLength(1)
        expect(accounts).toEqual(importedOf(100))
      }).pipe(Effect.scoped)
    )

    it.effect("cancels the batch of a book that changes while it is sent", () =>
      Effect.gen(function* () {
        let book = ""
        const tenant = yield* clientTenant((seen) => {
          if (isCreation(seen)) appendFileSync(book, bookOf(1))
          return undefined
        })
        const { home, run } = yield* user(environmentOf(tenant))
        book = home.write("book.ndjson", bookOf(5))
        const { err, status } = yield* run("send", book, "--supplier", tenant.supplier)
        expect(status).toBe(2)
        expect(err).toMatch(/was changed while it was sent. Its batch is cancelled/)
        expect((yield* storedOf(tenant)).batches).toMatchObject([{ state: "CANCELLED" }])
        expect(readdirSync(home.path("state/data-import/sends"))).toEqual([])
      }).pipe(Effect.scoped)
    )

    it.effect("begins another batch after one that was cancelled before its start", () =>
      Effect.gen(function* () {
        const refusal = {
          status: 403,
          body: '{"code":"permission_denied","detail":"By the test."}'
        }
        const isUpload = ({ method }: Seen) => method === "PUT"
        const tenant = yield* clientTenant(once(isUpload, { _tag: "Answer", answer: refusal }))
        const { home, run } = yield* user(environmentOf(tenant))
        const book = home.write("book.ndjson", bookOf(5))
        const failed = ["--failed", home.path("failed.ndjson")]
        const args = ["send", book, "--supplier", tenant.supplier, ...failed]
        const refused = yield* run(...args)
        expect(refused).toMatchObject({ status: 2, out: "" })
        expect(refused.err).toMatch(/the same command goes on[^]*permission_denied: By the test./)
        const { batches } = yield* effectClient(tenant)
        const [open] = (yield* storedOf(tenant)).batches
        const batch_id = open?.batch_id ?? ""
        yield* batches.cancelBatch({ params: { batch_id } })
        const cancelled = yield* run(...args)
        expect(cancelled.err).toMatch(/was cancelled before all lines were sent/)
        expect((yield* run(...args)).status).toBe(0)
        expect((yield* storedOf(tenant)).batches).toHaveLength(2)
      }).pipe(Effect.scoped)
    )

    it.effect("reports the lines of a batch that is cancelled elsewhere", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const book = home.write("book.ndjson", bookOf(1_000))
        const file = home.path("failed.ndjson")
        const flags = ["--max-failures", "0", "--failed", file, "--json"]
        const running = yield* Effect.forkChild(run(...importing(tenant, book), ...flags))
        const { batches } = yield* effectClient(tenant)
        const query = { import_supplier: tenant.supplier }
        const [paused] = yield* Effect.repeat(batches.listBatches({ query }), {
          until: ([batch]) => batch?.state === "PAUSED"
        })
        const batch_id = paused?.batch_id ?? ""
        yield* batches.cancelBatch({ params: { batch_id } })
        const { out, status } = yield* Fiber.join(running)
        const { counts, failed_lines, state } = JSON.parse(out) as {
          readonly counts: Readonly<Record<string, number>>
          readonly failed_lines: number
          readonly state: string
        }
        expect({ state, status }).toEqual({ state: "CANCELLED", status: 1 })
        const { cancelled = 0, failed = 0 } = counts
        expect(cancelled).toBeGreaterThan(0)
        expect(failed_lines).toBe(cancelled + failed)
        expect(failedIn(file)).toHaveLength(failed_lines)
      }).pipe(Effect.scoped)
    )

    it.effect.each([
      ["an import without a team", ["--import"], /--import needs --team/],
      ["a team without an import", ["--team", team], /go with --import/],
      ["a team that does not exist", ["--import", "--team", "X"], /operations_team_name_does_not/]
    ] as const)("refuses %s, and remembers nothing", ([, flags, reason]) =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const book = home.write("book.ndjson", bookOf(1))
        const { err, status } = yield* run("send", book, "--supplier", tenant.supplier, ...flags)
        expect(status).toBe(2)
        expect(err).toMatch(reason)
        expect(err).not.toMatch(/goes on/)
        const folder = home.path("state/data-import/sends")
        expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([])
      }).pipe(Effect.scoped)
    )
  }
)
