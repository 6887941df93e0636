import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { get, putAll, type Wire } from "@data-import/domain/testing/wire"
import { errorsOf, putDocument } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import { accountOf, service, stage, validate } from "./importService.ts"

/** The sample with its amounts as they are answered. */
const asAnswered = (account: Wire): Wire => {
  const lists = ["current_statement_transactions", "historical_statement_transactions"]
  const amounts = lists.flatMap((list) => {
    const transactions = get(account, `ledgers.0.${list}`) as ReadonlyArray<{ amount: number }>
    return transactions.map(({ amount }, index) => [
      `ledgers.0.${list}.${index}.amount`,
      amount.toFixed(2)
    ])
  })
  return putAll(account, Object.fromEntries(amounts) as Wire)
}

layer(service, { excludeTestServices: true })("validate over HTTP", (it) => {
  describe("a valid account", () => {
    it.effect("is answered as it would be stored, and stores nothing", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const account = accountOf(tenant.keyOf("NL-0004711"))
        const reply = yield* validate(tenant, account)
        expect(reply.status).toBe(200)
        expect(reply.json).toStrictEqual(asAnswered(account))
        const { connection: _, "keep-alive": __, ...headers } = reply.headers
        expect(headers).toStrictEqual({
          "cache-control": "no-store",
          "content-length": String(Buffer.byteLength(reply.text)),
          "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
          "content-type": "application/json",
          date: expect.any(String),
          "x-content-type-options": "nosniff",
          "x-request-id": expect.stringMatching(/^[\w-]{36}$/)
        })
      })
    )
  })

  describe("the documents of an account", () => {
    const named = [
      "notes/NL-0004711/request-2024-11-02.pdf",
      "statements/NL-0004711/2025-01.pdf",
      "statements/NL-0004711/2025-02.pdf"
    ]
    const places = [
      "notes.0.document_paths.0.document_path",
      "statements.0.statement_path",
      "statements.1.statement_path"
    ]
    const missing = (at: ReadonlyArray<string>) => [
      "account_failed_validation",
      ...at.map((place) => `${place}: path_does_not_exist_in_file_store`)
    ]

    it.effect("must all exist, for validate and for stage", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant({ documentCheck: true })
        const account = accountOf(tenant.keyOf("1"))
        expect(errorsOf(yield* validate(tenant, account))).toEqual(missing(places))
        expect(errorsOf(yield* stage(tenant, account))).toEqual(missing(places))
        for (const path of named.slice(0, 2)) yield* putDocument(tenant, path)
        yield* putDocument(tenant, `${named[2]}/a-folder-is-no-document.pdf`)
        expect(errorsOf(yield* validate(tenant, account))).toEqual(missing(places.slice(2)))
      })
    )
  })
})
