/** Idempotency keys of additions to an account. */
import { layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { auditTables, rows, tablesBut } from "@data-import/postgres/testing/rows"
import { type KeyedWrite, keyedWritesSuite } from "@data-import/server/testing/KeyedWrites"
import {
  bareAccountOf,
  bodyOf,
  importedAccount,
  names,
  paths,
  service
} from "./postImportService.ts"

type Service = Layer.Success<typeof service>

const writes = names.map((name): KeyedWrite<Service> => ({
  name,
  failed: "request_failed_validation",
  fresh: Effect.map(importedAccount(bareAccountOf), (account) => ({
    path: paths[name],
    token: account.tenant.token,
    organisation: account.tenant.organisation,
    body: bodyOf(name, account)
  })),
  stored: tablesBut("idempotency_keys", "api_keys", ...auditTables),
  takeAnswerBack: (key) =>
    rows((sql) => sql`update idempotency_keys set answer = null where key = ${key}`)
}))

layer(service, { excludeTestServices: true })("an Idempotency-Key", (it) => {
  keyedWritesSuite(it, writes)
})
