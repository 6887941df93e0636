/** Commands on the whole system: keys and profiles, and what each says about them. */
import { statSync, writeFileSync, chmodSync, mkdirSync } from "node:fs"
import { expect, layer, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { clientTenant, effectClient, team } from "@data-import/local/test/clientTenant"
import { rawNumber } from "@data-import/domain/schema/RawNumber"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem, WholeSystem } from "@data-import/local/test/wholeSystem"
import { environmentOf, user } from "./onlineCommand.ts"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { Scope } from "@data-import/domain/suppliers/Organisation"
import { freshOrganisation, freshTestOrganisation } from "@data-import/domain/testing/freshNames"
import { type Command } from "effect/cli"
import { dataImport } from "../DataImport.ts"
import { bookOf } from "./sentBook.ts"

const stored = "config/data-import/profiles.json"

/** A test key of an organisation, and where it is valid. */
const testKey = Effect.gen(function* () {
  const { gatewayUrl } = yield* WholeSystem
  const live = yield* freshOrganisation
  const { name: organisation } = yield* freshTestOrganisation(live.name)
  const scopes = Scope.literals
  const { secret } = yield* issueKey({ organisation, label: "test", scopes, expiresAt: null })
  return { apiKey: secret, baseUrl: gatewayUrl, organisation }
})

const leavesOf = ({ name, subcommands }: Command.Command.Any): ReadonlyArray<string> => {
  const inner = subcommands.flatMap(({ commands }) => commands)
  return inner.length === 0
    ? [name]
    : inner.flatMap((each) => leavesOf(each).map((leaf) => `${name} ${leaf}`))
}

const ofBatch = ["show", "resume", "pause", "cancel", "watch", "results", "forecast", "retry"]

const firstLineOf = (...texts: ReadonlyArray<string>): string =>
  texts.find((text) => text !== "")?.split("\n")[0] ?? ""

/** Commands that ask no service, and one that does nothing with a live key. */
const unmarked = new Set([
  "check",
  "certify",
  "certificate verify",
  "map suggest",
  "map preview",
  "profile list",
  "sandbox reset"
])

const wrong = ["--reason", "Wrong sign", "--dry-run"]

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })((it) => {
  describe("the online commands", () => {
    it.effect("log in with a key that is typed, and keep it for its owner only", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run, type } = yield* user()
        const url = ["--profile", "sandbox", "--url", tenant.baseUrl]
        const { err, out, status } = yield* type(tenant.apiKey, "login", ...url)
        expect({ err, status }).toEqual({ err: "", status: 0 })
        expect(out).toMatch(/key is valid .* the profile sandbox/)
        expect(out).not.toContain(tenant.apiKey)
        expect(statSync(home.path(stored)).mode & 0o777).toBe(0o600)
        expect(statSync(home.path("config/data-import")).mode & 0o777).toBe(0o700)
        const asked = yield* run("summary", tenant.supplier, "--profile", "sandbox", "--json")
        expect(JSON.parse(asked.out)).toMatchObject({ import_supplier: tenant.supplier, total: 0 })
        const unknown = yield* run("summary", tenant.supplier)
        expect(unknown).toMatchObject({ status: 2, out: "" })
        expect(unknown.err).toMatch(/There is no profile default. Run: data-import login/)
      }).pipe(Effect.scoped)
    )

    it.effect("keep no key that the service refuses", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, type } = yield* user()
        const { err, out, status } = yield* type("sk_wrong", "login", "--url", tenant.baseUrl)
        expect({ out, status }).toEqual({ out: "", status: 2 })
        expect(err).toMatch(/INVALID_API_KEY: .* is not accepted by http/)
        expect(err).not.toContain("sk_wrong")
        expect(() => statSync(home.path(stored))).toThrow(/ENOENT/)
      }).pipe(Effect.scoped)
    )

    it.effect("ask for no key without a terminal", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { run } = yield* user()
        const { err, status } = yield* run("login", "--url", tenant.baseUrl)
        expect(status).toBe(2)
        expect(err).toMatch(/Set DATA_IMPORT_API_KEY/)
      }).pipe(Effect.scoped)
    )

    it.effect("keep several profiles, and take the environment first", () =>
      Effect.gen(function* () {
        const [one, other] = [yield* clientTenant(), yield* clientTenant()]
        const { home, run, type } = yield* user()
        for (const [name, { apiKey, baseUrl }] of Object.entries({ one, other })) {
          yield* type(apiKey, "login", "--profile", name, "--url", baseUrl)
        }
        const totals = [
          yield* run("summary", one.supplier, "--profile", "one"),
          yield* run("summary", other.supplier, "--profile", "other"),
          yield* run("summary", one.supplier, "--profile", "other")
        ]
        expect(totals.map(({ status }) => status)).toEqual([0, 0, 2])
        expect(totals[2]?.err).toMatch(/^\s*ERROR\s+not_found: [^]*Request id: /)
        const inEnvironment = yield* user({
          ...environmentOf(one),
          XDG_CONFIG_HOME: home.path("config")
        })
        const first = yield* inEnvironment.run("summary", one.supplier, "--profile", "other")
        expect(first).toMatchObject({ status: 0, err: expect.stringMatching(/come before/) })
      }).pipe(Effect.scoped)
    )

    it.effect("send the key of a profile to no other address", () =>
      Effect.gen(function* () {
        const [one, other] = [yield* clientTenant(), yield* clientTenant()]
        const { home, type } = yield* user()
        yield* type(one.apiKey, "login", "--url", one.baseUrl)
        const elsewhere = yield* user({
          XDG_CONFIG_HOME: home.path("config"),
          DATA_IMPORT_URL: other.baseUrl
        })
        const { err, status } = yield* elsewhere.run("summary", one.supplier)
        expect(status).toBe(2)
        expect(err).toMatch(/is for http:.* DATA_IMPORT_URL is another address/)
        expect(other.seen).toEqual([])
      }).pipe(Effect.scoped)
    )

    it.effect("refuse a file of profiles that others can read, and an address without TLS", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run, type } = yield* user()
        yield* type(tenant.apiKey, "login", "--url", tenant.baseUrl)
        chmodSync(home.path(stored), 0o640)
        expect((yield* run("summary", tenant.supplier)).err).toMatch(/Run: chmod 600/)
        chmodSync(home.path(stored), 0o600)
        writeFileSync(home.path(stored), `{"default": "${tenant.apiKey}"`)
        const { err } = yield* run("summary", tenant.supplier)
        expect(err).toMatch(/they are not readable/)
        expect(err).not.toContain(tenant.apiKey)
        const plain = yield* type(tenant.apiKey, "login", "--url", "http://import.example.com")
        expect(plain).toMatchObject({ status: 2, err: expect.stringMatching(/http is for this/) })
        const versioned = yield* type(tenant.apiKey, "login", "--url", `${tenant.baseUrl}/v1`)
        expect(versioned).toMatchObject({ status: 2, err: expect.stringMatching(/without \/v1/) })
      }).pipe(Effect.scoped)
    )

    it.effect("show an import that failed, and an account exactly", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { run } = yield* user(environmentOf(tenant))
        const { accountImport } = yield* effectClient(tenant)
        const account = {
          ...tenant.accountOf("S-1"),
          metadata: [{ key: "meter", value: { reading: rawNumber("12345678901234567.10") } }]
        }
        yield* accountImport.stageAccount({ payload: { payload: account } })
        const { external_account_number, import_supplier } = account
        const { kraken_account_number: number } = yield* accountImport.processAccount({
          payload: {
            payload: { import_supplier, external_account_number, operations_team_name: team }
          }
        })
        const shown = yield* run("import", "show", import_supplier, "S-1")
        expect(shown).toMatchObject({ status: 0, err: "" })
        expect(shown.out).toMatch(/state: IMPORTED\n[^]*CREATED/)
        const text = yield* run("account", "show", number)
        expect(text.out).toMatch(/^Account A-[^]*transfer balance: 12.34\n[^]*metadata: 1\n/)
        expect(text.out).not.toMatch(/audit/)
        const exact = yield* run("account", "show", number, "--json")
        expect(exact.out).toContain("12345678901234567.10")
        const missing = yield* run("account", "show", "A-00000000")
        expect(missing).toMatchObject({ status: 2, err: expect.stringMatching(/not_found/) })
      }).pipe(Effect.scoped)
    )
  })

  describe("the own key", () => {
    it.effect("is shown with its organisation and scopes, and each profile without its key", () =>
      Effect.gen(function* () {
        const { apiKey, baseUrl, organisation } = yield* testKey
        const { run, type } = yield* user()
        const empty = yield* run("profile", "list", "--json")
        expect(empty).toMatchObject({ status: 0, out: "[]" })
        yield* type(apiKey, "login", "--profile", "sandbox", "--url", baseUrl)
        const { out } = yield* run("auth", "status", "--profile", "sandbox", "--json")
        expect(JSON.parse(out)).toMatchObject({
          profile: "sandbox",
          base_url: baseUrl,
          mode: "test",
          organisation,
          scopes: expect.arrayContaining(["import:write", "account:read"])
        })
        const listed = yield* run("profile", "list", "--profile", "sandbox")
        expect(listed.out).toMatch(/^name +base_url +mode +is_used\nsandbox +http:\S+ +test +on$/)
        expect(listed.out).not.toContain(apiKey)
        const wrong = yield* user({ DATA_IMPORT_URL: baseUrl, DATA_IMPORT_API_KEY: "sk_wrong" })
        const refused = yield* wrong.run("auth", "status")
        expect(refused).toMatchObject({ status: 2, err: expect.stringMatching(/INVALID_API_KEY/) })
      }).pipe(Effect.scoped)
    )

    it.effect("empties a test organisation when it is asked, and no live one", () =>
      Effect.gen(function* () {
        const own = yield* testKey
        const { run, type } = yield* user(environmentOf(own))
        const unasked = yield* run("sandbox", "reset")
        expect(unasked).toMatchObject({ status: 2, err: expect.stringMatching(/--yes/) })
        const declined = yield* type("n", "sandbox", "reset")
        expect(declined).toMatchObject({
          status: 2,
          err: expect.stringMatching(/Nothing was deleted/)
        })
        const deleted = { imports: 0, accounts: 0, batches: 0, events: 0 }
        for (const done of [
          yield* type("y", "sandbox", "reset", "--json"),
          yield* run("sandbox", "reset", "--yes", "--json")
        ]) {
          expect({ ...done, out: JSON.parse(done.out) as unknown }).toMatchObject({
            status: 0,
            out: deleted
          })
        }
        const live = yield* user(environmentOf(yield* clientTenant()))
        const refused = yield* live.run("sandbox", "reset", "--yes")
        expect(refused).toMatchObject({ status: 2, err: expect.stringMatching(/a live one/) })
      }).pipe(Effect.scoped)
    )

    it.effect("reads any path, with the status of the answer as exit status", () =>
      Effect.gen(function* () {
        const { run } = yield* user(environmentOf(yield* testKey))
        const limits = yield* run("api", "GET", "/v1/data-import/limits/")
        expect(limits).toMatchObject({
          status: 0,
          err: expect.stringMatching(/ answers 200 \[test\]$/) as string
        })
        expect(JSON.parse(limits.out)).toMatchObject({ batch_lines: 1_000_000 })
        const missing = yield* run("api", "GET", "/v1/nowhere/")
        expect(missing).toMatchObject({
          status: 1,
          err: expect.stringMatching(/\/v1\/nowhere\/ answered 404. Request id: /)
        })
        expect(JSON.parse(missing.out)).toMatchObject({ code: "not_found" })
        const elsewhere = yield* run("api", "GET", "https://example.com/")
        expect(elsewhere).toMatchObject({ status: 2, err: expect.stringMatching(/begins with \//) })
      }).pipe(Effect.scoped)
    )
  })

  const dryImport = {
    operation: "IMPORT",
    operations_team_name: team,
    dry_run: true,
    max_failures: 0
  } as const

  describe("the first line of every command", () => {
    it.effect(
      "says whether the key is live or a test key, and what is a dry run",
      () =>
        Effect.gen(function* () {
          const tenant = yield* clientTenant()
          const { home, run } = yield* user(environmentOf(tenant))
          const { batches, certificates, query } = yield* effectClient(tenant)
          const supplier = tenant.supplier as string
          const ofSupplier = { import_supplier: tenant.supplier }
          const dry = { ...ofSupplier, ...dryImport }
          const bytes = new TextEncoder().encode(bookOf(1_000))
          const { batch_id: id } = yield* batches.send(dry, Stream.make(bytes))
          yield* Stream.runHead(
            Stream.filter(batches.follow(id), ({ state }) => state === "PAUSED")
          )
          const seen = new Set<string>()
          const expectFirst = Effect.fnUntraced(function* (
            line: string,
            pattern: RegExp,
            ...more: ReadonlyArray<string>
          ) {
            const { err, out } = yield* run(...line.split(" "), ...more)
            const first = firstLineOf(err, out)
            expect(first, line).toMatch(/ \[live\]$/)
            expect(first, line).toMatch(pattern)
            seen.add(line)
          })
          for (const name of ofBatch) {
            yield* expectFirst(`batch ${name}`, /dry run/i, id)
          }
          yield* expectFirst("batch list", /dry_run/, supplier)
          const book = home.write("book.ndjson", bookOf(1))
          const own = [book, "--supplier", supplier, "--team", team]
          const sent = [...own, "--import"]
          const failed = ["--failed", home.path("failed.ndjson")]
          yield* expectFirst("send", /dry run/, ...sent, "--dry-run", ...failed)
          yield* expectFirst("send", /^Sending: /, ...sent, ...failed)
          yield* expectFirst("rehearse", /dry run/, ...own, ...failed)
          yield* expectFirst("reconcile", /1 lines/, book, "--supplier", supplier)
          yield* expectFirst("login", /The key is valid/)
          yield* expectFirst("auth status", /is valid at/)
          yield* expectFirst("api GET", /limits\/ answers 200/, "/v1/data-import/limits/")
          yield* expectFirst("configuration", /configuration of/, supplier)
          yield* expectFirst("summary", /./, supplier)
          yield* expectFirst("import show", /./, supplier, "B-0001")
          const params = { ...ofSupplier, external_account_number: "B-0001" }
          const { kraken_account_number: number } = yield* query.getImport({ params })
          yield* expectFirst("account show", /./, String(number))
          yield* expectFirst("events tail", /Events after 0/, "--after", "0", "--until-now")
          yield* expectFirst("certificate issue", /^Certificate /, supplier)
          yield* expectFirst("certificate list", /certificate_id/, supplier)
          const [issued] = yield* certificates.listCertificates({ query: ofSupplier })
          const certificate = String(issued?.certificate_id)
          yield* expectFirst("certificate show", /^Certificate /, certificate)
          yield* expectFirst("certificate proof", /^Proved: /, certificate, "B-0001")
          yield* expectFirst("rehearsal show", /./, id)
          const totals = home.write("totals.csv", "ledger_code,accounts,balance\n,1,1.23\n")
          yield* expectFirst("totals set", /./, supplier, totals)
          yield* expectFirst("totals show", /./, supplier)
          yield* expectFirst("totals remove", /./, supplier)
          const folder = home.path("documents")
          mkdirSync(folder)
          yield* expectFirst("documents upload", /0 files/, folder, ...sent.slice(1, 3))
          yield* expectFirst("batch revert", /dry run/i, supplier, ...wrong)
          const named = ["B-0001", "--account", String(number)]
          yield* expectFirst("import revert", /would be reverted/, supplier, ...named, ...wrong)
          const root = yield* dataImport(["--completions"])
          const all = leavesOf(root).map((leaf) => leaf.replace("data-import ", ""))
          expect(all.filter((leaf) => !seen.has(leaf) && !unmarked.has(leaf))).toEqual([])
        }).pipe(Effect.scoped),
      90_000
    )
  })
})
