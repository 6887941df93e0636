/**
 * Access control at every endpoint of the API. The list comes from its definition, so a new
 * endpoint is tested too.
 */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { BoardSessions } from "@data-import/domain/access/BoardSessions"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { TokenSecrets } from "@data-import/domain/access/TokenSigner"
import { freshTestOrganisation, testSupplierOf } from "@data-import/domain/testing/freshNames"
import * as Board from "./BoardEndpoints.ts"
import { browserOf, codeOf, serviceWith, viewer } from "./boardService.ts"

const auditOf = ({ supplier: { code } }: Effect.Success<typeof Board.migration>) =>
  Effect.flatMap(AuditLog, ({ search }) =>
    search({ filter: { organisations: null, supplier: code }, before: null, limit: 99 })
  )

layer(serviceWith({}), { excludeTestServices: true, timeout: "1 minute" })("the API", (it) => {
  it.effect.each(Board.all)("refuses $method $path without a valid session", (endpoint) =>
    Effect.gen(function* () {
      const { named } = yield* Board.migration
      const one = yield* browserOf(Board.manager(null))
      const headers = yield* Board.tokenOf(one)
      const cookie = one.cookies.get("board") ?? ""
      const sessions = yield* BoardSessions
      const id = yield* (yield* TokenSecrets).hash(cookie)
      const session = Option.getOrThrow(yield* sessions.find(id))
      // The clocks of the service and of the test differ by the error of a measurement.
      const ended = [
        { ...session, lastSeenAt: DateTime.subtract(session.lastSeenAt, { minutes: 31 }) },
        { ...session, createdAt: DateTime.subtract(session.createdAt, { hours: 13 }) }
      ]
      for (const each of ended) {
        yield* sessions.end(id)
        yield* sessions.create(id, each)
        const refused = yield* Board.ask(one, endpoint, named, headers)
        expect([refused.status, codeOf(refused)]).toEqual([401, "not_authenticated"])
      }
      yield* sessions.end(id)
      for (const value of [cookie, "", "x".repeat(8_000)]) {
        one.cookies.set("board", value)
        const refused = yield* Board.ask(one, endpoint, named, headers)
        expect([refused.status, codeOf(refused)]).toEqual([401, "not_authenticated"])
      }
    })
  )

  it.effect.each(Board.writes)("refuses a forged POST $path", (endpoint) =>
    Effect.gen(function* () {
      const made = yield* Board.migration
      const one = yield* browserOf(Board.manager(null))
      const token = yield* Board.tokenOf(one)
      const body = JSON.stringify(Board.bodyFor(endpoint, made.named.supplier))
      const path = Board.pathOf(endpoint, made.named)
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
        "issue_certificate",
        "create_batch",
        "stage"
      ])
    })
  )

  it.effect.each(Board.actions)("refuses POST $path by a viewer", (endpoint) =>
    Effect.gen(function* () {
      const made = yield* Board.migration
      const one = yield* browserOf({ ...viewer, organisations: [made.supplier.organisation] })
      const refused = yield* Board.ask(one, endpoint, made.named, yield* Board.tokenOf(one))
      expect([refused.status, codeOf(refused)]).toEqual([403, "permission_denied"])
      const also = yield* Board.ask(one, endpoint, Board.nowhere, yield* Board.tokenOf(one))
      expect([also.status, also.text]).toEqual([403, refused.text])
      expect((yield* auditOf(made)).entries.length).toBe(3)
    })
  )

  const ofSuppliers = Board.all.filter(({ path }) => path.includes(":"))
  it.effect.each(ofSuppliers)(
    "answers $method $path about another organisation's supplier as for an unknown one",
    (endpoint) =>
      Effect.gen(function* () {
        const [mine, foreign] = [yield* Board.migration, yield* Board.migration]
        const test = yield* freshTestOrganisation(mine.supplier.organisation)
        const testSupplier = testSupplierOf(test.name)
        yield* (yield* Configuration).createSupplier(testSupplier)
        const one = yield* browserOf(Board.manager([mine.supplier.organisation]))
        const headers = yield* Board.tokenOf(one)
        const without = yield* Board.ask(one, endpoint, Board.nowhere, headers)
        expect([without.status, codeOf(without)]).toEqual([404, "not_found"])
        for (const supplier of [foreign.named.supplier, wireCode(testSupplier.code)]) {
          const named = { ...foreign.named, supplier }
          const refused = yield* Board.ask(one, endpoint, named, headers)
          expect([refused.status, refused.text]).toEqual([404, without.text])
        }
        expect((yield* auditOf(foreign)).entries.length).toBe(3)
      })
  )

  it.effect.each(Board.all)("forbids caches to store the answer of $method $path", (endpoint) =>
    Effect.gen(function* () {
      if (endpoint === Board.changes) return
      const { named } = yield* Board.migration
      const one = yield* browserOf(Board.manager(null))
      const answer = yield* Board.ask(one, endpoint, named, yield* Board.tokenOf(one))
      expect([answer.status, answer.headers]).toMatchObject([
        Board.statuses[endpoint.identifier] ?? 200,
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
