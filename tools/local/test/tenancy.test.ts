/**
 * Every operation that names a supplier, asked for one's own supplier, for another organisation's,
 * and for one that does not exist. The last two answers are the same, whatever the other
 * organisation has stored.
 */
import { readFileSync } from "node:fs"
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Request, send } from "@data-import/api/testing/Client"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { freshOrganisation, supplierOf } from "@data-import/domain/testing/freshNames"
import {
  domesticPayload,
  instructionPayload,
  notesPayload,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import { healthyWorld } from "./healthyWorld.ts"
import { tokenFor, wholeSystem, WholeSystem } from "./wholeSystem.ts"

const team = "Migration Team"

interface Key {
  readonly import_supplier: string
  readonly external_account_number: string
}

type Ask = (supplier: string, number: string) => Omit<Request, "headers">

const posting =
  (path: string, body: (key: Key) => unknown): Ask =>
  (import_supplier, external_account_number) => ({
    path,
    body: JSON.stringify(body({ import_supplier, external_account_number }))
  })

const at =
  (path: string): Ask =>
  (supplier, number) => ({
    path: path.replace("{import_supplier}", supplier).replace("{external_account_number}", number)
  })

const root = "/v1/data-import"
const stagePath = `${root}/account-import-process/create-or-update/`
const processPath = `${root}/account-import-process/process/`

const stage = posting(stagePath, (key) => ({ payload: { ...domesticPayload(), ...key } }))
const processing = (dry_run: boolean) =>
  posting(processPath, (key) => ({ payload: { ...key, operations_team_name: team, dry_run } }))

const batches = `${root}/batches/`
const accounts = `${root}/accounts/`

const uploadPayload = { document_path: "new.pdf", size: 7, sha256: "0".repeat(64) }

/** By the template of the document's path; several where an operation has several ways. */
const operations: Readonly<Record<string, ReadonlyArray<Ask>>> = {
  [`${root}/validate-account/`]: [
    posting(`${root}/validate-account/`, (key) => ({ payload: { ...domesticPayload(), ...key } })),
    posting(`${root}/validate-account/`, (key) => ({ payload: { ...key, customers: "wrong" } }))
  ],
  [stagePath]: [
    stage,
    posting(stagePath, (key) => ({ payload: { ...key, unknown_occupier: "wrong" } }))
  ],
  [processPath]: [
    processing(false),
    processing(true),
    posting(processPath, (key) => ({ payload: { ...key, operations_team_name: "Nobody" } }))
  ],
  [`${root}/documents/`]: [
    posting(`${root}/documents/`, ({ import_supplier }) => ({
      payload: { ...uploadPayload, import_supplier }
    }))
  ],
  [`${root}/notes/create/`]: [
    posting(`${root}/notes/create/`, (key) => ({ ...notesPayload(), ...key }))
  ],
  [`${root}/transactions/create/`]: [
    posting(`${root}/transactions/create/`, (key) => ({ ...transactionsPayload(), ...key })),
    posting(`${root}/transactions/create/?force_add_to_current_statement=false`, (key) => ({
      ...transactionsPayload(),
      ...key
    }))
  ],
  [`${root}/historical-statements/create/`]: [
    posting(`${root}/historical-statements/create/`, (key) => ({ ...statementsPayload(), ...key }))
  ],
  [`${root}/payment-instruction/create/`]: [
    posting(`${root}/payment-instruction/create/`, (key) => ({ ...instructionPayload(), ...key }))
  ],
  [`${root}/account-transfer-status/{import_supplier}/{external_account_number}/`]: [
    at(`${root}/account-transfer-status/{import_supplier}/{external_account_number}/`)
  ],
  [accounts]: [(supplier) => ({ path: `${accounts}?import_supplier=${supplier}` })],
  [`${root}/imports/{import_supplier}/{external_account_number}/`]: [
    at(`${root}/imports/{import_supplier}/{external_account_number}/`),
    (supplier, number) => ({
      method: "PATCH",
      path: `${root}/imports/${supplier}/${number}/`,
      body: JSON.stringify({ cohort: "wave" })
    })
  ],
  [`${root}/suppliers/{import_supplier}/summary/`]: [
    at(`${root}/suppliers/{import_supplier}/summary/`)
  ],
  [batches]: [
    posting(batches, ({ import_supplier }) => ({
      payload: { import_supplier, operation: "STAGE" }
    })),
    (supplier) => ({ path: `${batches}?import_supplier=${supplier}` })
  ],
  [`${root}/events/`]: [(supplier) => ({ path: `${root}/events/?import_supplier=${supplier}` })],
  ...Object.fromEntries(
    ["all", "pending", "imported"].map((kind) => {
      const path = `${root}/${kind}-account-import-processes/{import_supplier}/`
      return [
        path,
        [at(path), at(`${path}?limit=1`), at(`${path}?after=0`), at(`${path}?failed=true`)]
      ]
    })
  )
}

const ways = Object.entries(operations).flatMap(([template, asks]) =>
  asks.map((ask, way) => [`${template} (${way + 1})`, ask] as const)
)

interface Documented {
  readonly paths: Readonly<Record<string, object>>
}

/** Paths that name no supplier, by the document. */
const withoutSupplier = [`${root}/limits/`, "/v1/graphql/", "/.well-known/jwks.json"]

const json = { "content-type": "application/json" }

/** What is asked of a batch, by the path after its id. */
const ofBatch: Readonly<Record<string, Omit<Request, "path">>> = {
  "": {},
  "lines/": {
    method: "PUT",
    headers: { "content-type": "application/x-ndjson" },
    body: '{"external_account_number":"L"}\n'
  },
  "start/": { headers: json, body: '{"payload":{"total_lines":0}}' },
  "pause/": { method: "POST" },
  "resume/": { method: "POST" },
  "cancel/": { method: "POST" },
  "results/": {},
  "problems/": {}
}

const batchRequests = Object.entries(ofBatch)

/** A creation that names another batch. */
const retry = (import_supplier: string, retry_of: string): Omit<Request, "headers"> => ({
  path: batches,
  body: JSON.stringify({ payload: { import_supplier, operation: "STAGE", retry_of } })
})

const noBatch = "3b1f0f4e-58a1-4a7e-9d3a-5f6d1a0b2c3d"

/** A client with a supplier, on which it has imported one account and staged another. */
const client = Effect.gen(function* () {
  const setup = yield* Configuration
  const { name: organisation } = yield* freshOrganisation
  const supplier = supplierOf(organisation)
  yield* setup.createSupplier(supplier)
  const token = yield* tokenFor(organisation)
  const ask = Effect.fnUntraced(function* (
    request: Omit<Request, "headers">,
    key?: string,
    type: Request["headers"] = json
  ) {
    const { gatewayUrl } = yield* WholeSystem
    const headers = {
      authorization: `Token ${token}`,
      ...type,
      ...(key !== undefined && { "idempotency-key": key })
    }
    return yield* send(gatewayUrl, { ...request, headers })
  })
  const askOf = (batch: string, rest: string, key?: string) => {
    const { headers, ...request } = ofBatch[rest] ?? {}
    return ask({ path: `${batches}${batch}/${rest}`, ...request }, key, headers)
  }
  /** A new batch of one line. */
  const batch = Effect.gen(function* () {
    const payload = { import_supplier: supplier.code, operation: "STAGE" }
    const created = yield* ask({ path: batches, body: JSON.stringify({ payload }) })
    const { batch_id } = created.json as { readonly batch_id: string }
    expect((yield* askOf(batch_id, "lines/")).status).toBe(200)
    return batch_id
  })
  const imported = Effect.gen(function* () {
    expect((yield* ask(stage(supplier.code, "staged"))).status).toBe(201)
    expect((yield* ask(stage(supplier.code, "imported"))).status).toBe(201)
    const processed = yield* ask(processing(false)(supplier.code, "imported"))
    expect(processed.status).toBe(201)
    return (processed.json as { readonly kraken_account_number: string }).kraken_account_number
  })
  return { ask, askOf, batch, imported, supplier }
})

/** What a caller can see of an answer, but for what differs between any two. */
const seen = ({
  headers,
  status,
  text
}: {
  readonly headers: Readonly<Record<string, string>>
  readonly status: number
  readonly text: string
}) => {
  const { date: _, "x-request-id": __, ...same } = headers
  return { status, text, headers: same }
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
    const named = [...Object.keys(operations), ...withoutSupplier, ...batchPaths, account]
    expect(named.toSorted()).toEqual(Object.keys(paths).toSorted())
  })

  describe("answers alike for another organisation's supplier and for none", () => {
    it.effect.each(ways)("%s", ([, ask]) =>
      Effect.gen(function* () {
        const mine = yield* client
        const rival = yield* client
        yield* rival.imported
        const none = supplierOf(rival.supplier.organisation).code
        for (const number of ["imported", "staged", "unknown"]) {
          const unknown = seen(yield* mine.ask(ask(none, number)))
          expect(unknown.status, "refused").toBeGreaterThanOrEqual(400)
          expect(unknown.status, "refused").toBeLessThan(500)
          const foreign = seen(yield* mine.ask(ask(rival.supplier.code, number)))
          expect(foreign).toStrictEqual(unknown)
        }
      })
    )
  })

  it.effect("answers differently for one's own supplier", () =>
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

  it.effect("separates the idempotency keys of organisations", () =>
    Effect.gen(function* () {
      const mine = yield* client
      const rival = yield* client
      yield* rival.imported
      const none = supplierOf(rival.supplier.organisation).code
      for (const [name, ask] of ways) {
        for (const number of ["imported", "staged", "new"]) {
          const key = `"${name} ${number}"`
          const asked = ask(rival.supplier.code, number)
          yield* rival.ask(asked, key)
          const foreign = seen(yield* mine.ask(asked, key))
          expect(foreign, key).toStrictEqual(seen(yield* mine.ask(ask(none, number))))
        }
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
          // A key under which the other organisation has asked the same.
          yield* rival.askOf(theirs, rest, rest)
          expect(seen(yield* mine.askOf(theirs, rest, rest)), rest).toStrictEqual(unknown)
        }
        const { code } = mine.supplier
        const unknown = seen(yield* mine.ask(retry(code, noBatch)))
        expect(unknown.status).toBe(404)
        expect(seen(yield* mine.ask(retry(code, theirs)))).toStrictEqual(unknown)
      })
    )

    it.effect("changes nothing of another's, and answers differently for one's own", () =>
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

  it.effect("changes nothing of another's", () =>
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
