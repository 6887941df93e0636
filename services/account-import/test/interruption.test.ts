/** Clients that go away in the middle: what they asked for is done whole or not at all. */
import { connect, type Socket } from "node:net"
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { History } from "@data-import/domain/ports/History"
import { Listening } from "@data-import/server/Service"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import {
  accountOf,
  jsonHeaders,
  Premises,
  process,
  processPath,
  rows,
  service,
  stage,
  stagedImport,
  stagePath,
  team
} from "./importService.ts"
import { isInProgress, until, whileNothingCreates } from "./standstill.ts"

/** Sends as much of a POST as `part` of its body, and leaves the connection open. */
const begin = Effect.fnUntraced(function* (
  { token }: Tenant,
  path: string,
  requestId: string,
  body: unknown,
  part = 1
) {
  const { port } = yield* Listening
  const bytes = Buffer.from(JSON.stringify(body))
  const headers = {
    ...jsonHeaders(token),
    host: "data-import.test",
    "x-request-id": requestId,
    "content-length": String(bytes.length)
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return yield* Effect.promise(
    () =>
      new Promise<Socket>((resolve, reject) => {
        const socket = connect({ port, host: "127.0.0.1" }, () => {
          socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`)
          socket.write(bytes.subarray(0, bytes.length * part), () => resolve(socket))
        })
        socket.on("error", reject)
      })
  )
})

/** Until the service has noticed the end of the request. */
const untilLogged = (requestId: string) =>
  Effect.flatMap(Premises, ({ log }) =>
    until(
      Effect.sync(() => log.join("")),
      (text) => text.includes(requestId)
    )
  )

const countOf = ({ supplier }: Tenant) =>
  rows(
    (sql) => sql<{ imports: number; accounts: number; audited: number }>`
    select count(*)::integer as imports, count(accounts.id)::integer as accounts,
      (select count(*)::integer from audit_log where import_supplier = ${supplier.code}) as audited
    from import_processes left join accounts using (id) where supplier = ${supplier.code}`
  )

layer(service, { excludeTestServices: true })("a client that goes away", (it) => {
  describe("while its account is made", () => {
    it.effect("leaves it made, whole, and recorded", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const body = { payload: { ...key, operations_team_name: team } }
        yield* whileNothingCreates(
          Effect.gen(function* () {
            const socket = yield* begin(tenant, processPath, "gone-1", body)
            yield* until(isInProgress(key), (held) => held)
            socket.destroy()
            yield* untilLogged("gone-1")
          })
        )
        yield* until(isInProgress(key), (held) => !held)
        const [attempt, ...others] = yield* (yield* History).attempts(key)
        expect(attempt).toMatchObject({ outcome: "created" })
        expect(others).toEqual([])
        expect(yield* countOf(tenant)).toEqual([{ imports: 1, accounts: 1, audited: 2 }])
        expect((yield* process(tenant, key)).json).toMatchObject({
          code: "account_import_process_already_imported"
        })
      })
    )

    it.effect("in a dry run leaves it pending", () =>
      Effect.gen(function* () {
        const { key, tenant } = yield* stagedImport()
        const body = { payload: { ...key, operations_team_name: team, dry_run: true } }
        yield* whileNothingCreates(
          Effect.gen(function* () {
            const socket = yield* begin(tenant, processPath, "gone-2", body)
            yield* until(isInProgress(key), (held) => held)
            socket.destroy()
            yield* untilLogged("gone-2")
          })
        )
        yield* until(isInProgress(key), (held) => !held)
        expect(yield* countOf(tenant)).toEqual([{ imports: 1, accounts: 0, audited: 2 }])
        expect((yield* process(tenant, key)).status).toBe(201)
      })
    )
  })

  describe("before its request was whole", () => {
    it.effect("leaves everything as it was", () =>
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
            const socket = yield* begin(tenant, path, id, body, part)
            socket.destroy()
            const text = yield* untilLogged(id)
            expect(text).not.toContain(`"level":"ERROR"`)
          }
        }
        expect(yield* countOf(tenant)).toEqual([{ imports: 0, accounts: 0, audited: 0 }])
        expect((yield* stage(tenant, accountOf(key))).status).toBe(201)
      })
    )
  })

  describe("as soon as its request was sent", () => {
    it.effect("finds its account staged whole, or not at all", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        for (let round = 0; round < 10; round++) {
          const key = tenant.keyOf(`${round}`)
          const id = `sent-${round}`
          const socket = yield* begin(tenant, stagePath, id, { payload: accountOf(key) })
          socket.destroy()
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
