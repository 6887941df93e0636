/** Certificates over HTTP on PostgreSQL. Source: docs/contract/certificates.md. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { post, Premises } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import * as Service from "./batchesService.ts"

const root = "/v1/data-import/certificates/"

layer(Service.service, { excludeTestServices: true })("a certificate", (it) => {
  it.effect("x", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const payload = { import_supplier: tenant.supplier.code }
      const reply = yield* post(root, tenant.token, { payload })
      console.log(reply.status, reply.text, (yield* Premises).log.join("").slice(-3000))
      expect(reply.status).toBe(202)
    })
  )
})
