/** Certificates over HTTP. Source: docs/contract/certificates.md. */
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { NotAuthenticated } from "@data-import/api/Refusal"
import { send } from "@data-import/api/testing/Client"
import * as CertificateQuery from "@data-import/domain/certificates/CertificateQuery"
import * as IdempotentWrites from "@data-import/domain/idempotency/IdempotentWrites"
import { PermissionDenied } from "@data-import/domain/requests/Failure"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { ApiKeyId, Scope } from "@data-import/domain/suppliers/Organisation"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { freshOrganisation, supplierOf } from "@data-import/domain/testing/freshNames"
import { layerMemory as auditLog } from "@data-import/domain/testing/memory/AuditLog"
import { layerMemory as configuration } from "@data-import/domain/testing/memory/Configuration"
import { layerMemory as documents } from "@data-import/domain/testing/memory/Documents"
import { layerMemory as hashing } from "@data-import/domain/testing/memory/Hashing"
import { layerMemory as keys } from "@data-import/domain/testing/memory/IdempotencyKeys"
import type { Authorize } from "@data-import/server/auth/Authorization"
import * as Service from "@data-import/server/lifecycle/Service"
import { Output } from "@data-import/server/observability/Log"
import { routes } from "../src/CertificateHandlers.ts"
import { issuing, memoryCertificates } from "./memoryCertificates.ts"

const root = "/v1/data-import/certificates/"

const storage = Layer.mergeAll(auditLog, configuration, hashing, keys)
const programs = Layer.mergeAll(CertificateQuery.layer, IdempotentWrites.layer).pipe(
  Layer.provide([documents(new Map()), memoryCertificates]),
  Layer.provideMerge(storage)
)

/** A token is a list of scopes. */
const tokens = {
  reader: "import:read",
  writer: "import:write",
  owner: Scope.literals.join("+")
}

/** The service for a fresh organisation. */
const started = Effect.gen(function* () {
  const { name: organisation } = yield* freshOrganisation
  const supplier = supplierOf(organisation)
  yield* Effect.flatMap(Configuration, (setup) => setup.createSupplier(supplier))
  const authorize: Authorize = (header, scope, requestId) => {
    if (header === undefined) return Effect.fail(new NotAuthenticated())
    const named = header.slice("Token ".length).split("+")
    const scopes = Scope.literals.filter((each) => named.includes(each))
    return scopes.includes(scope)
      ? Effect.succeed({ organisation, apiKey: ApiKeyId.make("key_1"), scopes, requestId })
      : Effect.fail(new PermissionDenied())
  }
  const service = Service.layer(
    "batches",
    Effect.map(routes, (all) => ({ routes: all, authorize }))
  ).pipe(
    Layer.provide([
      ConfigProvider.layer(ConfigProvider.fromUnknown({ PORT: "0" })),
      Layer.succeed(Output, () => {})
    ])
  )
  const { url } = Context.get(yield* Layer.build(service), Service.Listening)
  const ask = (path: string, token: string, headers = {}) =>
    send(url, { path, headers: { authorization: `Token ${token}`, ...headers } })
  const code = wireCode(supplier.code)
  const body = JSON.stringify({ payload: { import_supplier: code } })
  const issue = (token = tokens.owner, headers = {}) => {
    const type = { authorization: `Token ${token}`, "content-type": "application/json" }
    return send(url, { path: root, headers: { ...type, ...headers }, body })
  }
  return { url, ask, issue, code }
})

const idOf = ({ json }: { readonly json: unknown }): string =>
  (json as { certificate_id: string }).certificate_id

const withService = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(
    Effect.provide(programs),
    Effect.scoped,
    Effect.ensuring(Effect.sync(() => void (issuing.atOnce = true)))
  )

describe("a request for a certificate", () => {
  it.live("answers 201 once it is issued, and a repeat the same certificate", () =>
    Effect.gen(function* () {
      const { ask, issue } = yield* started
      const key = { "idempotency-key": "one" }
      const first = yield* issue(tokens.owner, key)
      expect(first.status).toBe(201)
      expect(first.json).toMatchObject({ status: "ISSUED", counts: { tree_size: 2 } })
      expect(first.headers["location"]).toBe(`${root}${idOf(first)}/`)
      const again = yield* issue(tokens.owner, key)
      expect([again.status, again.text]).toEqual([201, first.text])
      expect(again.headers["idempotency-replayed"]).toBe("true")
      expect((yield* ask(`${root}${idOf(first)}/`, tokens.owner)).text).toBe(first.text)
      expect(idOf(yield* issue())).not.toBe(idOf(first))
    }).pipe(withService)
  )

  it.effect("answers 202 after 15 seconds, and a repeat 201 if it is issued then", () =>
    Effect.gen(function* () {
      issuing.atOnce = false
      const { ask, issue } = yield* started
      const key = { "idempotency-key": "one" }
      const fiber = yield* Effect.forkChild(issue(tokens.owner, key))
      let seconds = 0
      for (; fiber.pollUnsafe() === undefined && seconds < 1_000; seconds++) {
        yield* TestClock.adjust("1 second")
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
      }
      const first = yield* Fiber.join(fiber)
      expect(first.status).toBe(202)
      expect(first.json).toMatchObject({ status: "RUNNING", counts: null, jws: null })
      expect(seconds).toBeGreaterThanOrEqual(15)
      const path = `${root}${idOf(first)}/`
      const signed = yield* ask(path, tokens.owner, { accept: "application/jose" })
      expect([signed.status, signed.json]).toMatchObject([404, { code: "not_found" }])
      issuing.atOnce = true
      const again = yield* issue(tokens.owner, key)
      expect([again.status, idOf(again)]).toEqual([201, idOf(first)])
    }).pipe(withService)
  )

  it.live("is refused to a key without account:read, and with a wrong body", () =>
    Effect.gen(function* () {
      const { issue, url } = yield* started
      expect((yield* issue(tokens.writer)).json).toMatchObject({ code: "permission_denied" })
      const headers = { authorization: `Token ${tokens.owner}`, "content-type": "application/json" }
      const body = '{"payload":{"import_supplier":"NOBODY","cohort":""}}'
      const wrong = yield* send(url, { path: `${root}?x=1`, headers, body })
      expect(wrong.json).toMatchObject({
        code: "request_failed_validation",
        errors: [{ attr: "x" }, { attr: "import_supplier" }, { attr: "cohort" }]
      })
    }).pipe(withService)
  )
})

describe("a certificate", () => {
  it.live("has no balance and no hash for a key without account:read, in no way", () =>
    Effect.gen(function* () {
      const { ask, code, issue } = yield* started
      const path = `${root}${idOf(yield* issue())}/`
      const list = `${root}?import_supplier=${code}`
      for (const [asked, token] of [
        [path, tokens.reader],
        [list, tokens.reader]
      ] as const) {
        const { status, text } = yield* ask(asked, token)
        expect(status).toBe(200)
        expect(text).toMatch(/"counts":\{"tree_size":2/)
        expect(text).not.toMatch(/balance|amount|root|jws|hash|"certificate":|[0-9a-f]{64}/)
      }
      for (const refused of [`${path}proofs/A-1/`, `${path}hashes/`]) {
        expect((yield* ask(refused, tokens.reader)).status).toBe(403)
      }
      const accept = { accept: "application/jose" }
      expect((yield* ask(path, tokens.reader, accept)).json).toMatchObject({
        code: "permission_denied"
      })
      const signed = yield* ask(path, tokens.owner, accept)
      expect(signed.headers["content-type"]).toBe("application/jose")
      expect((yield* ask(path, tokens.owner)).json).toMatchObject({ jws: signed.text })
      expect((yield* ask(path, tokens.owner, { accept: "text/csv" })).status).toBe(406)
    }).pipe(withService)
  )

  it.live("is listed in pages, the newest first", () =>
    Effect.gen(function* () {
      const { ask, code, issue } = yield* started
      const [one, two] = [idOf(yield* issue()), idOf(yield* issue())]
      const page = yield* ask(`${root}?import_supplier=${code}&limit=1`, tokens.reader)
      const link = `${root}?import_supplier=${code}&limit=1&before=${two}`
      expect(page.headers["link"]).toBe(`<${link}>; rel="next"`)
      const rest = yield* ask(link, tokens.reader)
      expect(rest.headers["link"]).toBeUndefined()
      expect([page, rest].map(({ json }) => (json as ReadonlyArray<object>)[0])).toMatchObject([
        { certificate_id: two },
        { certificate_id: one }
      ])
      expect((yield* ask(`${root}?import_supplier=NOBODY`, tokens.reader)).status).toBe(404)
      expect((yield* ask(`${root}${crypto.randomUUID()}/`, tokens.reader)).status).toBe(404)
    }).pipe(withService)
  )

  it.live("proves accounts and shows nodes, and its keys need no token", () =>
    Effect.gen(function* () {
      const { ask, issue, url } = yield* started
      const path = `${root}${idOf(yield* issue())}/`
      const proof = yield* ask(`${path}proofs/A-2/`, tokens.owner)
      expect(proof.json).toMatchObject({
        leaf_index: 1,
        entry: { external_account_number: "A-2", balance: "1.00" }
      })
      expect((yield* ask(`${path}proofs/A-9/`, tokens.owner)).status).toBe(404)
      const nodes = yield* ask(`${path}hashes/?level=0&from=1&limit=1`, tokens.owner)
      expect(nodes.json).toMatchObject([{ index: 1, first: null, last: null, count: 1 }])
      const wrong = yield* ask(`${path}hashes/?level=41&from=-1&limit=1001`, tokens.owner)
      expect(wrong.json).toMatchObject({
        errors: [{ attr: "level" }, { attr: "from" }, { attr: "limit" }]
      })
      const keys = yield* send(url, { path: "/.well-known/certificate-keys.json?v=1" })
      expect(keys.headers["cache-control"]).toContain("max-age=30")
      expect(keys.json).toMatchObject({ keys: [{ kty: "OKP", crv: "Ed25519", kid: "k" }] })
    }).pipe(withService)
  )
})
