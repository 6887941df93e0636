/**
 * Logging in, profiles, and the commands that ask how a migration stands, on the whole system.
 */
import { statSync, writeFileSync, chmodSync } from "node:fs"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { clientTenant, effectClient, team } from "@data-import/local/test/clientTenant"
import { rawNumber } from "@data-import/domain/schema/RawNumber"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem } from "@data-import/local/test/wholeSystem"
import { freePort } from "@data-import/testbed/Ports"
import { environmentOf, user } from "./onlineCommand.ts"

const stored = "config/data-import/profiles.json"

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "the online commands",
  (it) => {
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

    it.effect("say that the service cannot be reached", () =>
      Effect.gen(function* () {
        const { run } = yield* user({
          DATA_IMPORT_URL: `http://127.0.0.1:${yield* freePort}`,
          DATA_IMPORT_API_KEY: "sk_x"
        })
        const { err, status } = yield* run("summary", "X")
        expect(status).toBe(2)
        expect(err).toMatch(/Cannot reach http:\/\/127.0.0.1:\d+: .*ECONNREFUSED/)
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
  }
)
