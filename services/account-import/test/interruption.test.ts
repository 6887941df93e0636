/** Clients that disconnect in the middle of a request: it takes effect completely or not at all. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { team } from "@data-import/postgres/testing/serviceDatabase"
import { rows } from "@data-import/postgres/testing/rows"
import { transactions, whileAccountsStandStill } from "@data-import/postgres/testing/standstill"
import { beginPost, until, untilLogged } from "@data-import/server/testing/RunningService"
import { type Tenant } from "@data-import/server/testing/Tenant"
import { isInProgress, process, processPath, service, stagedImport } from "./importService.ts"

const countOf = ({ supplier }: Tenant) =>
  rows(
    (sql) => sql<{ imports: number; accounts: number; audited: number }>`
    select count(*)::integer as imports, count(accounts.id)::integer as accounts,
      (select count(*)::integer from audit_log where import_supplier = ${supplier.code}) as audited
    from import_processes left join accounts on import_id = import_processes.id
    where supplier = ${supplier.code}`
  )

layer(service, { excludeTestServices: true })("a client that disconnects", (it) => {
  describe("while its account is created", () => {
    it.effect("leaves the account complete and recorded", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const body = { payload: { ...key, operations_team_name: team } }
        yield* whileAccountsStandStill(
          Effect.gen(function* () {
            const connection = yield* beginPost(tenant, processPath, "gone-1", body)
            yield* until(transactions, ({ waiting }) => waiting > 0)
            connection.reset()
            yield* untilLogged("gone-1")
          })
        )
        yield* until(isInProgress(key), (held) => !held)
        const [attempt, ...others] = yield* (yield* AuditLog).attempts(key)
        expect(attempt).toMatchObject({ outcome: "created" })
        expect(others).toEqual([])
        expect(yield* countOf(tenant)).toEqual([{ imports: 1, accounts: 1, audited: 2 }])
        expect((yield* process(tenant, key)).json).toMatchObject({
          code: "account_import_process_already_imported"
        })
      })
    )
  })
})
