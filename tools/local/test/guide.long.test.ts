/** The samples of the guide do what the guide says, on the running system and in each language. */
import { expect, layer } from "@effect/vitest"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { Scope } from "@data-import/domain/suppliers/Organisation"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { freshTestOrganisation, testSupplierOf } from "@data-import/domain/testing/freshNames"
import { freshTenant, supplierOf } from "@data-import/testbed/Tenants"
import { Effect } from "effect"
import { Webhook } from "standardwebhooks"
import {
  difference,
  isInstalled,
  type LanguageName,
  languages,
  pages,
  run,
  samplesOf
} from "./GuideSamples.ts"
import { healthyWorld } from "./healthyWorld.ts"
import { wholeSystem, WholeSystem } from "./wholeSystem.ts"

const names = Object.keys(languages) as ReadonlyArray<LanguageName>

const cases = pages.flatMap((page) =>
  names.flatMap((language) =>
    samplesOf(page, language).length > 0 ? [[page, language] as const] : []
  )
)

const supplier = "DEMO_ENERGY"

/** A client with a test key, as the guide tells newcomers to begin. */
const testClient = Effect.gen(function* () {
  const live = yield* freshTenant({})
  const { name: organisation } = yield* freshTestOrganisation(live.organisation)
  const supplier = testSupplierOf(organisation, supplierOf(live.supplier, live.organisation))
  yield* (yield* Configuration).createSupplier(supplier)
  const scopes = Scope.literals
  const { secret } = yield* issueKey({ organisation, label: "guide", scopes, expiresAt: null })
  return { apiKey: secret, supplier: live.supplier }
})

/** Runs a page as a client of its own; `more` is code that follows its samples. */
const runPage = Effect.fnUntraced(function* (page: string, language: LanguageName, more: string) {
  const { gatewayUrl } = yield* WholeSystem
  const tenant = yield* testClient
  const env = { DATA_IMPORT_URL: gatewayUrl, DATA_IMPORT_API_KEY: tenant.apiKey }
  const replaced = (code: string) => code.replaceAll(supplier, tenant.supplier)
  const outputs = yield* Effect.promise(() => run(page, language, env, replaced, more))
  return outputs.map(({ out, shown }) => ({
    shown,
    out: out.replaceAll(tenant.supplier, supplier)
  }))
})

/** A genuine request of a webhook, and the same with another body. */
const webhook = () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
  const body = '{"type":"data_import.batch.started-v1"}'
  const now = new Date()
  const headers = {
    "webhook-id": "0b7e1a4c-9d0f-4c58-8f0e-2a51f7c3d6b9",
    "webhook-timestamp": `${Math.floor(now.getTime() / 1_000)}`,
    "webhook-signature": `v1,AAAA ${new Webhook(secret).sign("0b7e1a4c-9d0f-4c58-8f0e-2a51f7c3d6b9", now, body)}`
  }
  return [secret, headers, body].map((part) => JSON.stringify(part))
}

const verifying = {
  ts: ([secret, headers, body]: ReadonlyArray<string>) =>
    `for (const end of ["", " "])\n  console.log(isGenuine(${secret}, ${headers}, Buffer.from(${body} + end)))`,
  python: ([secret, headers, body]: ReadonlyArray<string>) =>
    `for end in ["", " "]:\n    print(str(is_genuine(${secret}, ${headers}, (${body} + end).encode())).lower())`
}

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "the samples of the guide",
  (it) => {
    it("are in every language", () => {
      expect(cases.length).toBeGreaterThan(names.length * 4)
      const withSamples = new Set(cases.map(([page]) => page))
      expect(cases).toHaveLength(withSamples.size * names.length)
    })

    it.effect.each(cases)("of the page %s answer in %s what it shows", ([page, language]) =>
      Effect.gen(function* () {
        if (!(yield* Effect.promise(() => isInstalled(language)))) {
          console.log(`The samples in ${language} are skipped: it is not installed.`)
          return
        }
        const outputs = yield* runPage(page, language, "")
        const compared = outputs.flatMap(({ out, shown }) =>
          shown === null ? [] : [difference(shown, out)]
        )
        expect(compared.flat()).toEqual([])
        expect(compared.length > 0 || page === "retries").toBe(true)
      })
    )

    it.effect.each(["ts", "python"] as const)(
      "verify in %s what a webhook sends, and nothing else",
      (language) =>
        Effect.gen(function* () {
          if (!(yield* Effect.promise(() => isInstalled(language)))) return
          const outputs = yield* runPage("events", language, verifying[language](webhook()))
          expect(outputs.at(-1)?.out.trim().split("\n")).toEqual(["true", "false"])
        })
    )
  }
)
