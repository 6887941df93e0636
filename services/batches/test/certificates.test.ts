/** Certificates over HTTP on PostgreSQL, as a worker issues them. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { issueNext } from "@data-import/domain/certificates/CertificateIssuing"
import {
  CertificateId,
  certificateLimits,
  Certificates
} from "@data-import/domain/certificates/Certificates"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { layerMemory as hashing } from "@data-import/domain/testing/memory/Hashing"
import { post } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import * as Service from "./batchesService.ts"

const root = "/v1/data-import/certificates/"

const keys = [{ kid: "k", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }]

const signer = {
  issuer: "https://import.example.com",
  sign: () => Effect.succeed("a.b.c"),
  keys: Effect.succeed(keys)
}

layer(Service.service, { excludeTestServices: true })("a certificate", (it) => {
  it.effect("is refused while no key is known, and is issued once per key of a request", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const certificates = yield* Certificates
      const payload = { import_supplier: tenant.supplier.code }
      const ask = post(root, tenant.token, { payload }, { "idempotency-key": tenant.supplier.code })
      expect((yield* ask).json).toMatchObject({ code: "service_unavailable" })
      yield* certificates.addKeys(keys, yield* DateTime.now)

      const ports = { certificates, hashing: yield* Effect.provide(Hashing, hashing), signer }
      const issuing = yield* Effect.forkChild(
        Effect.repeat(Effect.delay(issueNext(ports), "50 millis"), { until: (issued) => issued })
      )
      const [first, again] = [yield* ask, yield* ask]
      expect(issuing.pollUnsafe()).toBeDefined()
      expect([first.status, again.status]).toEqual([201, 201])
      expect(again.text).toBe(first.text)
      expect(first.json).toMatchObject({
        status: "ISSUED",
        counts: { tree_size: 0, states: { IMPORTED: 0 } },
        certificate: { balance: "0.00", previous: null },
        jws: "a.b.c"
      })
      const list = yield* Service.get(tenant, `${root}?import_supplier=${payload.import_supplier}`)
      expect(list.json).toEqual([first.json])
      const nodes = `${root}${(first.json as { certificate_id: string }).certificate_id}/hashes/`
      expect((yield* Service.get(tenant, nodes)).text).toBe("[]")
    })
  )

  it.effect("is refused while as many are computed as may be", () =>
    Effect.gen(function* () {
      const { caller, supplier, token } = yield* freshTenant()
      const { addKeys, request } = yield* Certificates
      yield* addKeys(keys, yield* DateTime.now)
      const { organisation } = caller
      const issuer = { organisation, role: "client", id: caller.apiKey }
      const at = yield* DateTime.now
      const command = { supplier: supplier.code, cohort: null, issuer, caller, at, recorder: null }
      for (let running = 0; running < certificateLimits.running; running++) {
        yield* request({ ...command, id: CertificateId.make(crypto.randomUUID()) })
      }
      const refused = yield* post(root, token, { payload: { import_supplier: supplier.code } })
      expect([refused.status, refused.headers["retry-after"], refused.json]).toEqual([
        429,
        "15",
        expect.objectContaining({ code: "certificate_limit_exceeded" })
      ])
    })
  )
})
