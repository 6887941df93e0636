/** Clients that disconnect in the middle of a request: it takes effect completely or not at all. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { team } from "@data-import/postgres/testing/serviceDatabase"
import { rows } from "@data-import/postgres/testing/rows"
import { transactions, whileAccountsStandStill } from "@data-import/postgres/testing/standstill"
import { beginPost, until, untilLogged } from "@data-import/server/testing/RunningService"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import {
  accountOf,
  isInProgress,
  process,
  processPath,
  service,
  stage,
  stagedImport,
  stagePath
} from "./importService.ts"

const countOf = ({ supplier }: Tenant) =>
  rows(
    (sql) => sql<{ imports: number; accounts: number; audited: number }>`
    select count(*)::integer as imports, count(accounts.id)::integer as accounts,
      (select count(*)::integer from audit_log where import_supplier = ${supplier.code}) as audited
    from import_processes left join accounts using (id) where supplier = ${supplier.code}`
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

    it.effect("in a dry run leaves the import pending", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const body = { payload: { ...key, operations_team_name: team, dry_run: true } }
        yield* whileAccountsStandStill(
          Effect.gen(function* () {
            const connection = yield* beginPost(tenant, processPath, "gone-2", body)
            yield* until(transactions, ({ waiting }) => waiting > 0)
            connection.reset()
            yield* untilLogged("gone-2")
          })
        )
        yield* until(isInProgress(key), (held) => !held)
        expect(yield* countOf(tenant)).toEqual([{ imports: 1, accounts: 0, audited: 2 }])
        expect((yield* process(tenant, key)).status).toBe(201)
      })
    )
  })

  describe("before its request was complete", () => {
    it.effect("changes nothing", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const key = tenant.keyOf("1")
        const bodies: ReadonlyArray<readonly [string, unknown]> = [
          [stagePath, { payload: accountOf(key) }],
          [processPath, { payload: { ...key, operations_team_name: team } }]
        ]
        for (const [path, body] of bodies) {
          for (const part of [0, 0.5, 0.99]) {
            const id = `half-${path.split("/").at(-2)}-${part}`
            const connection = yield* beginPost(tenant, path, id, body, part)
            connection.reset()
            const text = yield* untilLogged(id)
            expect(text).not.toContain(`"level":"ERROR"`)
          }
        }
        expect(yield* countOf(tenant)).toEqual([{ imports: 0, accounts: 0, audited: 0 }])
        expect((yield* stage(tenant, accountOf(key))).status).toBe(201)
      })
    )
  })

  describe("right after its request was sent", () => {
    it.effect("finds its account staged completely or not at all", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        for (let round = 0; round < 10; round++) {
          const key = tenant.keyOf(`${round}`)
          const id = `sent-${round}`
          const connection = yield* beginPost(tenant, stagePath, id, { payload: accountOf(key) })
          connection.reset()
          yield* untilLogged(id)
        }
        const again = yield* Effect.forEach(Array.from({ length: 10 }).keys(), (round) =>
          stage(tenant, accountOf(tenant.keyOf(`${round}`)))
        )
        expect(again.every(({ status }) => status === 200 || status === 201)).toBe(true)
        expect(yield* countOf(tenant)).toMatchObject([{ imports: 10, accounts: 0 }])
      })
    )
  })
})
