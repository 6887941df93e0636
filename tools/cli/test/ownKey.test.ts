/** The commands about the own key and what it may see: auth, profile, sandbox and api. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { Scope } from "@data-import/domain/suppliers/Organisation"
import { freshOrganisation, freshTestOrganisation } from "@data-import/domain/testing/freshNames"
import { clientTenant } from "@data-import/local/test/clientTenant"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { WholeSystem, wholeSystem } from "@data-import/local/test/wholeSystem"
import { environmentOf, user } from "./onlineCommand.ts"

/** A test key of an organisation, and where it is valid. */
const testKey = Effect.gen(function* () {
  const { gatewayUrl } = yield* WholeSystem
  const live = yield* freshOrganisation
  const { name: organisation } = yield* freshTestOrganisation(live.name)
  const scopes = Scope.literals
  const { secret } = yield* issueKey({ organisation, label: "test", scopes, expiresAt: null })
  return { apiKey: secret, baseUrl: gatewayUrl, organisation }
})

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "the own key",
  (it) => {
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
  }
)
