/**
 * Every operation that names a supplier, requested for the own supplier, a stranger's, and one that
 * does not exist. The last two answers are the same, whatever the stranger has stored. Strangers
 * are other organisations, and the own organisation in the other mode.
 */
import { readFileSync } from "node:fs"
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { persistently } from "@data-import/server/testing/RunningService"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import {
  freshOrganisation,
  freshTestOrganisation,
  supplierOf,
  testSupplierOf
} from "@data-import/domain/testing/freshNames"
import {
  accounts,
  batches,
  batchRequests,
  certificates,
  client,
  clientWith,
  noBatch,
  ofBatch,
  ofCertificate,
  operations,
  retry,
  root,
  seen,
  siblings,
  team,
  ways
} from "./clients.ts"
import { healthyWorld } from "./healthyWorld.ts"
import { wholeSystem } from "./wholeSystem.ts"

interface Documented {
  readonly paths: Readonly<Record<string, object>>
}

/** Paths that name no supplier, by the document. */
const withoutSupplier = [
  `${root}/limits/`,
  `${root}/sandbox/reset/`,
  "/v1/graphql/",
  "/.well-known/certificate-keys.json",
  "/.well-known/jwks.json"
]

/** The caller, and the owner of the named supplier. */
const strangers = {
  "of another organisation": Effect.gen(function* () {
    return { mine: yield* client, rival: yield* client }
  }),
  "of one's own test organisation": Effect.map(siblings, ({ live, test }) => ({
    mine: live,
    rival: test
  })),
  "of one's own live organisation": Effect.map(siblings, ({ live, test }) => ({
    mine: test,
    rival: live
  }))
}

const teamIsThere = Layer.effectDiscard(
  Effect.flatMap(Configuration, (setup) => setup.createTeam(team))
)

layer(teamIsThere.pipe(Layer.provideMerge(wholeSystem(healthyWorld()))), {
  excludeTestServices: true,
  timeout: "2 minutes"
})("the tenancy matrix", (it) => {
  it("has every operation of the document that names a supplier", () => {
    const file = new URL("../../../libs/api/openapi.json", import.meta.url)
    const { paths } = JSON.parse(readFileSync(file, "utf8")) as Documented
    const batchPaths = Object.keys(ofBatch).map((rest) => `${batches}{batch_id}/${rest}`)
    const account = `${accounts}{kraken_account_number}/`
    const certificatePaths = ofCertificate.map(
      (rest) =>
        `${certificates}{certificate_id}/${rest.replace("imported", "{external_account_number}")}`
    )
    const named = [
      ...Object.keys(operations),
      ...withoutSupplier,
      ...batchPaths,
      ...certificatePaths,
      account
    ]
    expect(named.toSorted()).toEqual(Object.keys(paths).toSorted())
  })

  it.effect.each(Object.entries(strangers))(
    "answers alike for none and for a supplier %s",
    ([, two]) =>
      Effect.gen(function* () {
        const { mine, rival } = yield* two
        yield* rival.imported
        const none = supplierOf(rival.supplier.organisation).code
        for (const [way, ask] of ways) {
          for (const number of ["imported", "staged", "unknown"]) {
            const unknown = seen(yield* mine.ask(ask(none, number)))
            expect(Math.floor(unknown.status / 100), `${way} is refused`).toBe(4)
            const foreign = seen(yield* mine.ask(ask(rival.supplier.code, number)))
            expect(foreign, way).toStrictEqual(unknown)
          }
        }
      })
  )

  it.effect("separates the accounts of a code that exists in both modes", () =>
    Effect.gen(function* () {
      const { name: organisation } = yield* freshOrganisation
      const stored = supplierOf(organisation)
      const { name: tests } = yield* freshTestOrganisation(organisation)
      const live = yield* clientWith(stored)
      const test = yield* clientWith(testSupplierOf(tests, stored))
      const { code } = test.supplier
      expect(code).toBe(live.supplier.code)
      const number = yield* test.imported
      const batch = yield* test.batch
      const status = { path: `${root}/account-transfer-status/${code}/imported/` }
      const list = { path: `${root}/all-account-import-processes/${code}/` }
      const ofTest = yield* test.ask(list)
      expect(ofTest.text).toContain('"imported"')
      expect((yield* test.ask(status)).text).toContain(number)
      expect((yield* live.ask(status)).status).toBe(404)
      expect((yield* live.ask(list)).text).not.toContain('"imported"')
      expect((yield* live.ask({ path: `${accounts}${number}/` })).status).toBe(404)
      expect((yield* live.askOf(batch, "")).status).toBe(404)
      yield* live.imported
      expect((yield* live.ask(status)).status).toBe(200)
      expect((yield* live.ask(status)).text).not.toContain(number)
      expect((yield* test.ask(list)).text).toBe(ofTest.text)
    })
  )

  it.effect("answers a test client with the code that it sent, in every field", () =>
    Effect.gen(function* () {
      const { test } = yield* siblings
      const { code } = test.supplier
      yield* test.imported
      const asked = ["imported", "new"].flatMap((number) =>
        ways.map(([, ask]) => ask(code, number))
      )
      const answers = yield* Effect.forEach(asked, (request) => test.ask(request))
      const batch = yield* test.askOf(yield* test.batch, "")
      const events = yield* test.ask({ path: `${root}/events/` })
      for (const { text } of [...answers, batch, events]) {
        for (const [, named] of text.matchAll(/"import_supplier":\s*"([^"]*)"/g)) {
          expect(named).toBe(code)
        }
        expect(text).not.toContain(`" ${code}`)
      }
      expect(events.text).toContain(`"import_supplier":"${code}"`)
    })
  )

  it.effect("answers differently for the own supplier", () =>
    Effect.gen(function* () {
      const mine = yield* client
      yield* mine.imported
      const none = supplierOf(mine.supplier.organisation).code
      for (const [name, ask] of ways) {
        const own = seen(yield* mine.ask(ask(mine.supplier.code, "imported")))
        expect(own.text, name).not.toBe(seen(yield* mine.ask(ask(none, "imported"))).text)
      }
    })
  )

  it.effect("answers alike for another organisation's account and for none", () =>
    Effect.gen(function* () {
      const mine = yield* client
      const rival = yield* client
      const theirs = yield* rival.imported
      const read = (number: string) => Effect.map(mine.ask({ path: `${accounts}${number}/` }), seen)
      const unknown = yield* read("A-00000000")
      expect([unknown.status, unknown.text]).toEqual([404, expect.stringContaining('"not_found"')])
      expect(yield* read(theirs)).toStrictEqual(unknown)
      expect((yield* read(yield* mine.imported)).status).toBe(200)
    })
  )

  it.effect("answers alike for another organisation's certificate and for none", () =>
    Effect.gen(function* () {
      const mine = yield* client
      const rival = yield* client
      const issuedBy = Effect.fnUntraced(function* ({ ask, imported, supplier }: typeof mine) {
        yield* imported
        const payload = { import_supplier: supplier.code }
        const request = ask({ path: certificates, body: JSON.stringify({ payload }) })
        // The worker publishes its keys soon after it has started.
        const { json, status } = yield* persistently(request)
        expect(status).toBe(201)
        return (json as { readonly certificate_id: string }).certificate_id
      })
      const [own, theirs] = [yield* issuedBy(mine), yield* issuedBy(rival)]
      for (const rest of ofCertificate) {
        const read = (id: string) =>
          Effect.map(mine.ask({ path: `${certificates}${id}/${rest}` }), seen)
        const unknown = yield* read(noBatch)
        expect([unknown.status, unknown.text], rest).toEqual([
          404,
          expect.stringContaining('"not_found"')
        ])
        expect(yield* read(theirs), rest).toStrictEqual(unknown)
        expect((yield* read(own)).status, rest).toBe(200)
      }
      const after = `${certificates}?import_supplier=${mine.supplier.code}&before=${theirs}`
      expect((yield* mine.ask({ path: after })).text).toBe("[]")
    })
  )

  describe("of batches", () => {
    it.effect("answers alike for another organisation's batch and for none", () =>
      Effect.gen(function* () {
        const mine = yield* client
        const rival = yield* client
        const theirs = yield* rival.batch
        for (const [rest] of batchRequests) {
          const unknown = seen(yield* mine.askOf(noBatch, rest))
          expect([unknown.status, unknown.text], rest).toEqual([
            404,
            expect.stringContaining('"not_found"')
          ])
          expect(seen(yield* mine.askOf(theirs, rest)), rest).toStrictEqual(unknown)
          // A key with which the other organisation has sent the same request.
          yield* rival.askOf(theirs, rest, rest)
          expect(seen(yield* mine.askOf(theirs, rest, rest)), rest).toStrictEqual(unknown)
        }
        const { code } = mine.supplier
        const unknown = seen(yield* mine.ask(retry(code, noBatch)))
        expect(unknown.status).toBe(404)
        expect(seen(yield* mine.ask(retry(code, theirs)))).toStrictEqual(unknown)
      })
    )

    it.effect("changes no other organisation's batch, and answers differently for the own", () =>
      Effect.gen(function* () {
        const mine = yield* client
        const rival = yield* client
        const theirs = yield* rival.batch
        const shown = Effect.map(rival.askOf(theirs, ""), ({ text }) => text)
        const before = yield* shown
        for (const [rest] of batchRequests) yield* mine.askOf(theirs, rest)
        expect(yield* shown).toBe(before)
        const own = yield* mine.batch
        for (const [rest] of batchRequests) {
          expect((yield* mine.askOf(own, rest)).status, rest).not.toBe(404)
        }
        const list = (after: string) => ({
          path: `${batches}?import_supplier=${mine.supplier.code}&after=${after}`
        })
        expect((yield* mine.ask(list(noBatch))).text).toBe("[]")
        expect((yield* mine.ask(list(theirs))).text).toBe("[]")
      })
    )
  })

  it.effect("empties only the test organisation, never a live one", () =>
    Effect.gen(function* () {
      const { live, test } = yield* siblings
      yield* live.imported
      yield* test.imported
      const reset = { path: `${root}/sandbox/reset/`, method: "POST" } as const
      const list = ({ ask, supplier }: typeof live) =>
        ask({ path: `${root}/all-account-import-processes/${supplier.code}/` })
      const before = (yield* list(live)).text
      expect((yield* live.ask(reset, undefined, {})).status).toBe(403)
      expect((yield* list(test)).text).toContain("imported")
      for (const [, ask] of ways) yield* test.ask(ask(test.supplier.code, "imported"))
      const inUse = yield* test.ask(reset, undefined, {})
      expect([inUse.status, inUse.json]).toMatchObject([409, { code: "sandbox_in_use" }])
      const open = yield* test.ask({ path: `${batches}?import_supplier=${test.supplier.code}` })
      for (const { batch_id } of open.json as ReadonlyArray<{ readonly batch_id: string }>) {
        yield* test.askOf(batch_id, "cancel/")
      }
      const emptied = yield* test.ask(reset, undefined, {})
      expect([emptied.status, emptied.json]).toMatchObject([200, { imports: 2, accounts: 1 }])
      expect((yield* list(test)).text).toBe("[]")
      expect((yield* list(live)).text).toBe(before)
    })
  )

  it.effect("changes nothing of another organisation", () =>
    Effect.gen(function* () {
      const mine = yield* client
      const rival = yield* client
      yield* rival.imported
      const { supplier } = rival
      const shown = Effect.gen(function* () {
        const status = `${root}/account-transfer-status/${supplier.code}`
        const paths = [
          `${root}/all-account-import-processes/${supplier.code}/`,
          `${status}/staged/`,
          `${status}/imported/`
        ]
        return yield* Effect.forEach(paths, (path) =>
          Effect.map(rival.ask({ path }), ({ text }) => text)
        )
      })
      const before = yield* shown
      for (const [, ask] of ways) {
        for (const number of ["staged", "imported"]) yield* mine.ask(ask(supplier.code, number))
      }
      expect(yield* shown).toStrictEqual(before)
    })
  )
})
