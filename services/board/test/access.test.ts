/**
 * Who is refused what, at every endpoint of the API: the list comes from its definition, so a new
 * endpoint is held to it too.
 */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import {
  BoardActionGroup,
  BoardGroup,
  BoardSessionGroup,
  changesPath
} from "@data-import/api/board/BoardApi"
import { BatchId } from "@data-import/domain/batch/Batch"
import type { BoardUser } from "@data-import/domain/organisation/BoardUser"
import { wireCode } from "@data-import/domain/organisation/Supplier"
import { AuditLog } from "@data-import/domain/ports/AuditLog"
import { Batches } from "@data-import/domain/ports/Batches"
import { BoardSessions } from "@data-import/domain/ports/BoardSessions"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { TokenSecrets } from "@data-import/domain/ports/TokenSigner"
import {
  freshSupplier,
  freshTestOrganisation,
  noon,
  testSupplierOf
} from "@data-import/domain/testing/freshNames"
import { stagedPayload } from "@data-import/domain/testing/importStates"
import { type Browser, browserOf, codeOf, serviceWith, sessionOf, viewer } from "./boardService.ts"

interface Endpoint {
  readonly identifier: string
  readonly method: string
  readonly path: string
}

const endpointsOf = (group: { readonly endpoints: object }): ReadonlyArray<Endpoint> =>
  (Object.values(group.endpoints) as ReadonlyArray<Endpoint>).map(
    ({ identifier, method, path }) => ({ identifier, method, path })
  )

const ofSession = endpointsOf(BoardSessionGroup)
const actions = endpointsOf(BoardActionGroup)
const changes: Endpoint = { identifier: "changes", method: "GET", path: changesPath }
const all = [...ofSession, ...endpointsOf(BoardGroup), changes, ...actions]
const writes = [...ofSession.filter(({ method }) => method !== "GET"), ...actions]

const processing = () => ({
  batch_id: crypto.randomUUID(),
  selection: {},
  operations_team_name: "Migration Team"
})

/** Bodies that are right, by the endpoint. */
const bodies: Readonly<Record<string, (supplier: string) => object>> = {
  setPlan: () => ({ points: [] }),
  setStatus: () => ({ status: "Paused" }),
  setCohort: () => ({ cohort: "x", selection: {} }),
  processCohort: processing,
  retryFailed: processing,
  signOff: (supplier) => ({ import_supplier: supplier, accept_open: true }),
  linkDocument: () => ({ document_path: "x.pdf" })
}

/** The import has no such document, and the batch has not started. */
const statuses: Readonly<Record<string, number>> = {
  linkDocument: 404,
  pauseBoardBatch: 409,
  resumeBoardBatch: 409
}

const bodyFor = ({ identifier }: Endpoint, supplier: string): string =>
  JSON.stringify(bodies[identifier]?.(supplier) ?? {})

interface Named {
  readonly supplier: string
  readonly number: string
  readonly batch: string
}

const pathOf = ({ path }: Endpoint, { batch, number, supplier }: Named): string =>
  path
    .replace(":import_supplier", encodeURIComponent(supplier))
    .replace(":external_account_number", encodeURIComponent(number))
    .replace(":batch_id", batch)

const ask = Effect.fnUntraced(function* (
  one: Browser,
  endpoint: Endpoint,
  named: Named,
  headers: Readonly<Record<string, string>> = {}
) {
  const { method } = endpoint
  return method === "GET"
    ? yield* one.get(pathOf(endpoint, named), headers)
    : yield* one.post(pathOf(endpoint, named), headers, bodyFor(endpoint, named.supplier))
})

/** A supplier with an import and a started batch. */
const migration = Effect.gen(function* () {
  const owner = yield* freshSupplier
  const { caller, keyOf, supplier } = owner
  const imports = yield* ImportProcesses
  yield* imports.stage({
    key: keyOf("a"),
    payload: stagedPayload,
    cohort: null,
    caller,
    at: noon
  })
  const batches = yield* Batches
  const id = BatchId.make(crypto.randomUUID())
  const settings = {
    supplier: supplier.code,
    operation: "PROCESS",
    operationsTeam: "Migration Team",
    name: null,
    dryRun: false,
    cohort: null,
    pending: {},
    retryOf: null,
    maxFailures: null,
    parameters: {}
  } as const
  yield* batches.create({ id, settings, limit: 20, caller, at: noon })
  const named: Named = { supplier: supplier.code, number: "a", batch: id }
  return { ...owner, named }
})

const nowhere: Named = { supplier: "NOBODY", number: "a", batch: crypto.randomUUID() }

const manager = (organisations: BoardUser["organisations"]): BoardUser => ({
  subject: crypto.randomUUID(),
  name: "mia",
  role: "manager",
  organisations
})

const tokenOf = (one: Browser) =>
  Effect.map(sessionOf(one), ({ csrf_token }) => ({ "x-csrf-token": csrf_token }))

const auditOf = ({ supplier: { code } }: Effect.Success<typeof migration>) =>
  Effect.flatMap(AuditLog, ({ search }) =>
    search({ filter: { organisations: null, supplier: code }, before: null, limit: 99 })
  )

layer(serviceWith({}), { excludeTestServices: true, timeout: "1 minute" })("the API", (it) => {
  it.effect.each(all)("refuses $method $path without a session that goes on", (endpoint) =>
    Effect.gen(function* () {
      const { named } = yield* migration
      const one = yield* browserOf(manager(null))
      const headers = yield* tokenOf(one)
      const cookie = one.cookies.get("board") ?? ""
      const sessions = yield* BoardSessions
      const id = yield* (yield* TokenSecrets).hash(cookie)
      const session = Option.getOrThrow(yield* sessions.find(id))
      const ended = [
        { ...session, lastSeenAt: DateTime.subtract(session.lastSeenAt, { minutes: 30 }) },
        { ...session, createdAt: DateTime.subtract(session.createdAt, { hours: 12 }) }
      ]
      for (const each of ended) {
        yield* sessions.end(id)
        yield* sessions.create(id, each)
        const refused = yield* ask(one, endpoint, named, headers)
        expect([refused.status, codeOf(refused)]).toEqual([401, "not_authenticated"])
      }
      yield* sessions.end(id)
      for (const value of [cookie, "", "x".repeat(8_000)]) {
        one.cookies.set("board", value)
        const refused = yield* ask(one, endpoint, named, headers)
        expect([refused.status, codeOf(refused)]).toEqual([401, "not_authenticated"])
      }
    })
  )

  it.effect.each(writes)("refuses POST $path from elsewhere", (endpoint) =>
    Effect.gen(function* () {
      const made = yield* migration
      const one = yield* browserOf(manager(null))
      const token = yield* tokenOf(one)
      const body = bodyFor(endpoint, made.named.supplier)
      const path = pathOf(endpoint, made.named)
      for (const headers of [
        { "sec-fetch-site": "same-origin" },
        { "sec-fetch-site": "same-origin", "x-csrf-token": "x" },
        { ...token },
        { ...token, "sec-fetch-site": "cross-site" },
        { ...token, "sec-fetch-site": "same-site" },
        { ...token, origin: "http://evil.example" },
        { "sec-fetch-site": "cross-site", "content-type": "text/plain" }
      ]) {
        const sent = { "content-type": "application/json", ...headers }
        const refused = yield* one.ask({ method: "POST", path, headers: sent, body })
        expect([refused.status, codeOf(refused)]).toEqual([403, "permission_denied"])
      }
      for (const method of ["PUT", "PATCH", "DELETE"]) {
        const headers = { ...token, "sec-fetch-site": "same-origin" }
        expect((yield* one.ask({ method, path, headers })).status).toBe(405)
      }
      expect((yield* auditOf(made)).entries.map(({ action }) => action)).toEqual([
        "create_batch",
        "stage"
      ])
    })
  )

  it.effect.each(actions)("refuses a viewer POST $path", (endpoint) =>
    Effect.gen(function* () {
      const made = yield* migration
      const one = yield* browserOf({ ...viewer, organisations: [made.supplier.organisation] })
      const refused = yield* ask(one, endpoint, made.named, yield* tokenOf(one))
      expect([refused.status, codeOf(refused)]).toEqual([403, "permission_denied"])
      const also = yield* ask(one, endpoint, nowhere, yield* tokenOf(one))
      expect([also.status, also.text]).toEqual([403, refused.text])
      expect((yield* auditOf(made)).entries.length).toBe(2)
    })
  )

  const ofSuppliers = all.filter(({ path }) => path.includes(":"))
  it.effect.each(ofSuppliers)(
    "does not tell another organisation's supplier from none: $method $path",
    (endpoint) =>
      Effect.gen(function* () {
        const [mine, foreign] = [yield* migration, yield* migration]
        const test = yield* freshTestOrganisation(mine.supplier.organisation)
        const testSupplier = testSupplierOf(test.name)
        yield* (yield* Configuration).createSupplier(testSupplier)
        const one = yield* browserOf(manager([mine.supplier.organisation]))
        const headers = yield* tokenOf(one)
        const without = yield* ask(one, endpoint, nowhere, headers)
        expect([without.status, codeOf(without)]).toEqual([404, "not_found"])
        for (const supplier of [foreign.named.supplier, wireCode(testSupplier.code)]) {
          const named = { ...foreign.named, supplier }
          const refused = yield* ask(one, endpoint, named, headers)
          expect([refused.status, refused.text]).toEqual([404, without.text])
        }
        expect((yield* auditOf(foreign)).entries.length).toBe(2)
      })
  )

  it.effect.each(all)("answers $method $path to be stored nowhere", (endpoint) =>
    Effect.gen(function* () {
      if (endpoint.path === changesPath) return
      const { named } = yield* migration
      const one = yield* browserOf(manager(null))
      const answer = yield* ask(one, endpoint, named, yield* tokenOf(one))
      expect([answer.status, answer.headers]).toMatchObject([
        statuses[endpoint.identifier] ?? 200,
        { "cache-control": "no-store", "x-content-type-options": "nosniff" }
      ])
      if (answer.status !== 200) return
      expect(answer.headers).toMatchObject({
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer"
      })
    })
  )
})
