/** Upload links over HTTP, from the request to the document that an account names. */
import { createHash } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { serve } from "@data-import/documents/FileSystemUploads"
import { get } from "@data-import/domain/testing/wire"
import { errorsOf, post, Premises } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import { serviceWith, validate } from "./importService.ts"

const path = "/v1/data-import/documents/"
const content = "the statement of March"
const key = Redacted.make("k".repeat(32))

const service = Layer.unwrap(
  Effect.gen(function* () {
    const folder = yield* temporaryFolder()
    const url = yield* serve(folder, key)
    return serviceWith({
      DOCUMENTS_DIR: folder,
      DOCUMENTS_UPLOAD_URL: url.href,
      DOCUMENTS_UPLOAD_KEY: Redacted.value(key)
    })
  })
)

const payloadOf = (import_supplier: string) => ({
  import_supplier,
  document_path: "statements/2024-03.pdf",
  size: content.length,
  sha256: createHash("sha256").update(content).digest("hex")
})

layer(service, { excludeTestServices: true })("an upload over HTTP", (it) => {
  it.effect("puts the document where an account names it", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant({ documentCheck: true })
      const account = {
        ...tenant.keyOf("NL-0004711"),
        unknown_occupier: true,
        statements: [
          {
            bill_period_from_date: "2024-03-01",
            bill_period_to_date: "2024-03-31",
            statement_id: "2024-03",
            statement_path: "statements/2024-03.pdf"
          }
        ]
      }
      const missing = [
        "account_failed_validation",
        "statements.0.statement_path: path_does_not_exist_in_file_store"
      ]
      expect(errorsOf(yield* validate(tenant, account))).toEqual(missing)
      const { json, status } = yield* post(path, tenant.token, {
        payload: payloadOf(account.import_supplier)
      })
      expect(status).toBe(201)
      const headers = get(json, "headers") as Record<string, string>
      const put = Effect.promise(() =>
        fetch(String(get(json, "url")), { method: "PUT", headers, body: content })
      )
      expect((yield* put).status).toBe(200)
      expect((yield* put).status).toBe(412)
      expect((yield* validate(tenant, account)).status).toBe(200)
    })
  )

  it.effect("writes no link to the log", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const { import_supplier } = tenant.keyOf("NL-0004711")
      const { json } = yield* post(path, tenant.token, { payload: payloadOf(import_supplier) })
      const { searchParams } = new URL(String(get(json, "url")))
      const { log } = yield* Premises
      expect(log.join("")).not.toContain(searchParams.get("signature"))
    })
  )
})
