/** What remains of a request: the audit log, the outbox and the log of the service. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { drop } from "@data-import/domain/testing/wire"
import { rows } from "@data-import/postgres/testing/rows"
import { ask, jsonHeaders } from "@data-import/server/testing/RunningService"
import {
  bareAccountOf,
  bodyOf,
  importedAccount,
  type Name,
  names,
  paths,
  service
} from "./postImportService.ts"

const failed = "request_failed_validation"

layer(service, { excludeTestServices: true })("a post-import request", (it) => {
  describe("in the audit log", () => {
    const actions: Readonly<Record<Name, string>> = {
      notes: "create_notes",
      transactions: "create_transactions",
      statements: "create_historical_statements",
      instruction: "create_payment_instruction"
    }
    it.effect.each(names)("is recorded with caller, action and outcome: %s", (name) =>
      Effect.gen(function* () {
        const { key, tenant } = yield* importedAccount(bareAccountOf)
        const body = bodyOf(name, { key })
        const bodies = [body, body, { ...body, colour: "canary" }, drop(body, "import_supplier")]
        const ids: Array<string | undefined> = []
        for (const [index, sent] of bodies.entries()) {
          const headers = {
            ...jsonHeaders(tenant.token),
            "x-request-id": `${tenant.organisation}-${index}`
          }
          const reply = yield* ask({ path: paths[name], headers, body: JSON.stringify(sent) })
          ids.push(reply.headers["x-request-id"])
        }
        const entries = yield* rows(
          (sql) => sql<object>`
          select request_id, organisation, api_key, action, outcome, import_supplier
          from audit_log where api_key = ${tenant.apiKey.id} and action = ${actions[name]}
          order by id`
        )
        const supplier = tenant.supplier.code
        expect(entries).toEqual(
          [
            { outcome: "created", import_supplier: supplier },
            { outcome: "unchanged", import_supplier: supplier },
            { outcome: failed, import_supplier: supplier },
            { outcome: failed, import_supplier: null }
          ].map((entry, index) => ({
            ...entry,
            request_id: ids[index],
            organisation: tenant.organisation,
            api_key: tenant.apiKey.id,
            action: actions[name]
          }))
        )
      })
    )
  })
})
