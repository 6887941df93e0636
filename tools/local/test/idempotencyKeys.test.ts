/**
 * An idempotency key stands for one request of an organisation across all services: another path
 * neither gets its answer nor takes effect under it.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Reply, send } from "@data-import/api/testing/Client"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { freshOrganisation, supplierOf } from "@data-import/domain/testing/freshNames"
import {
  domesticPayload,
  instructionPayload,
  notesPayload,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import { rows } from "@data-import/postgres/testing/rows"
import { healthyWorld } from "./healthyWorld.ts"
import { run, tokenFor, wholeSystem, WholeSystem } from "./wholeSystem.ts"

const team = "Migration Team"
const root = "/v1/data-import"
const processPath = `${root}/account-import-process/process/`

/** Every write, in an order in which each can be done. */
const writes: Readonly<Record<string, (key: object) => object>> = {
  [`${root}/account-import-process/create-or-update/`]: (key) => ({
    payload: { ...domesticPayload(), ...key }
  }),
  [processPath]: (key) => ({ payload: { ...key, operations_team_name: team } }),
  [`${root}/notes/create/`]: (key) => ({ ...notesPayload(), ...key }),
  [`${root}/transactions/create/?check_previously_added=false`]: (key) => ({
    ...transactionsPayload(),
    ...key
  }),
  [`${root}/historical-statements/create/`]: (key) => ({ ...statementsPayload(), ...key }),
  [`${root}/payment-instruction/create/`]: (key) => ({ ...instructionPayload(), ...key })
}

const batches = `${root}/batches/`
const actions = ["start/", "pause/", "resume/", "cancel/"] as const

/** Sends requests under idempotency keys, with the token of an organisation of its own. */
const client = Effect.gen(function* () {
  const { gatewayUrl } = yield* WholeSystem
  const setup = yield* Configuration
  const { name: organisation } = yield* freshOrganisation
  const supplier = supplierOf(organisation)
  yield* setup.createSupplier(supplier)
  const authorization = `Token ${yield* tokenFor(organisation)}`
  const post = (path: string, body: string, key: string) => {
    const headers = { authorization, "content-type": "application/json", "idempotency-key": key }
    return send(gatewayUrl, { path, headers, body })
  }
  return {
    post,
    supplier: supplier.code,
    bodyOf: (path: string, number: string) =>
      JSON.stringify(
        writes[path]?.({ import_supplier: supplier.code, external_account_number: number })
      )
  }
})

/** The number of rows that writes leave behind. */
const stored = rows(
  (sql) => sql`
    select (select count(*) from audit_log)::text as audit,
      (select count(*) from outbox)::text as events,
      (select sum(stagings) from import_processes)::text as stagings`
)

const isReplayed = ({ headers }: Reply): boolean => headers["idempotency-replayed"] === "true"

const system = Layer.effectDiscard(
  Effect.flatMap(Configuration, (setup) => setup.createTeam(team))
).pipe(Layer.provideMerge(wholeSystem(healthyWorld())))

layer(system, { excludeTestServices: true, timeout: "2 minutes" })("a key of one path", (it) => {
  it.effect("is kept by every change of a batch, and is refused on the others", () =>
    Effect.gen(function* () {
      const { post, supplier } = yield* client
      const body = JSON.stringify({
        payload: { import_supplier: supplier, operation: "VALIDATE" }
      })
      const created = yield* post(batches, body, "create")
      const { batch_id } = created.json as { readonly batch_id: string }
      // Without lines it would end as soon as it is started.
      yield* run(
        (sql) => sql`
        update batches set paused_by = '{OPERATOR}', received = 1 where id = ${batch_id}::uuid`
      )
      const change = (action: string, key: string) => {
        const sent = action === "start/" ? '{"payload":{"total_lines":1}}' : ""
        return post(`${batches}${batch_id}/${action}`, sent, key)
      }
      const answers = new Map<string, string>()
      for (const action of actions) {
        const first = yield* change(action, action)
        expect([first.status, isReplayed(first)], first.text).toEqual([200, false])
        answers.set(action, first.text)
      }
      const before = yield* stored
      for (const action of actions) {
        const again = yield* change(action, action)
        expect([again.text, isReplayed(again)], action).toEqual([answers.get(action), true])
        for (const other of [...actions, "create"].filter((key) => key !== action)) {
          const refused = yield* change(action, other)
          expect(refused.json, `${other} on ${action}`).toMatchObject({
            code: "idempotency_key_reused"
          })
        }
      }
      const again = yield* post(batches, body, "create")
      expect([again.text, isReplayed(again)]).toEqual([created.text, true])
      expect(yield* stored, "nothing has taken effect").toEqual(before)
    })
  )

  it.effect("is refused on every other path, of its own service and of the other", () =>
    Effect.gen(function* () {
      const { bodyOf, post } = yield* client
      const paths = Object.keys(writes)
      for (const path of paths) {
        const body = bodyOf(path, "A")
        const first = yield* post(path, body, path)
        expect([first.status, isReplayed(first)], first.text).toEqual([201, false])
      }
      const before = yield* stored
      for (const key of paths) {
        for (const other of paths.filter((path) => path !== key)) {
          for (const body of [bodyOf(key, "A"), bodyOf(other, "A"), bodyOf(other, "B")]) {
            const refused = yield* post(other, body, key)
            const label = `${key} on ${other}`
            expect(refused.json, label).toMatchObject({ code: "idempotency_key_reused" })
            expect([refused.status, isReplayed(refused)], label).toEqual([422, false])
          }
        }
      }
      expect(yield* stored, "nothing has taken effect").toEqual(before)
      for (const path of paths) {
        expect(isReplayed(yield* post(path, bodyOf(path, "A"), path)), path).toBe(true)
      }
    })
  )
})
