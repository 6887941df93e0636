/** What was acknowledged comes back when it is read, through the whole system. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { send } from "@data-import/api/testing/Client"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { freshSupplier, minimalAccount } from "@data-import/domain/testing/freshNames"
import { persistently } from "@data-import/server/testing/RunningService"
import { healthyWorld } from "./healthyWorld.ts"
import { tokenFor, wholeSystem, WholeSystem } from "./wholeSystem.ts"

const base = "/v1/data-import"
const team = "Migration Team"

/** Whether the object store has the documents. */
let isStored = true

const world = healthyWorld({}, () => isStored)

/** A client with an import, whose requests go through the gateway. */
const client = Effect.gen(function* () {
  const { gatewayUrl } = yield* WholeSystem
  const setup = yield* Configuration
  yield* Effect.ignore(setup.createTeam(team))
  const { caller, keyOf, supplier } = yield* freshSupplier
  const checkDocuments = (documentCheck: boolean) =>
    setup.configureSupplier(supplier.code, { documentCheck })
  const key = keyOf("NL/1 ø")
  const token = yield* tokenFor(caller.organisation)
  const headers = { authorization: `Token ${token}`, "content-type": "application/json" }
  const ask = (path: string, body?: unknown, method?: string) =>
    persistently(
      send(gatewayUrl, {
        path: base + path,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(method !== undefined && { method })
      })
    )
  const path = `/imports/${supplier.code}/${encodeURIComponent(key.external_account_number)}/`
  const process = (dry_run: boolean) =>
    ask("/account-import-process/process/", {
      payload: { ...key, operations_team_name: team, dry_run }
    })
  return { ask, checkDocuments, key, path, process, supplier }
})

const account = {
  notes: [{ body: "N", document_paths: [{ document_path: "notes/1.pdf" }] }]
}

layer(wholeSystem(world), { excludeTestServices: true, timeout: "1 minute" })(
  "what was acknowledged",
  (it) => {
    it.effect("comes back when it is read", () =>
      Effect.gen(function* () {
        const { ask, checkDocuments, key, path, process, supplier } = yield* client
        yield* checkDocuments(false)
        const payload = { ...minimalAccount(key), ...account }
        const staging = "/account-import-process/create-or-update/?create_only=true"
        const staged = yield* ask(staging, { payload, cohort: "wave 1" })
        expect(staged.status).toBe(201)
        const told = {
          ...key,
          kraken_account_number: null,
          account_created_at: null,
          state: "PENDING",
          times_staged: 1,
          payload_hash: JSON.parse(staged.headers["etag"] ?? ""),
          cohort: "wave 1",
          attempts: []
        }
        expect((yield* ask(path)).json).toMatchObject(told)
        isStored = false
        yield* checkDocuments(true)
        const refusals = [yield* process(false), yield* process(true)]
        isStored = true
        expect(refusals.map(({ status }) => status)).toEqual([400, 400])
        const attempts = refusals.map(({ json }, index) => {
          const { code, errors } = json as { readonly code: string; readonly errors: unknown }
          return { dry_run: index === 1, outcome: "FAILED", code, errors }
        })
        expect((yield* ask(path)).json).toMatchObject({ ...told, state: "FAILED", attempts })
        const changed = yield* ask(path, { cohort: "wave 2" }, "PATCH")
        expect(changed.json).toEqual((yield* ask(path)).json)
        const created = yield* process(false)
        expect(created.status).toBe(201)
        const imported = { ...told, cohort: "wave 2", state: "IMPORTED", ...(created.json as {}) }
        const read = yield* ask(path)
        expect(read.json).toMatchObject({
          ...imported,
          account_created_at: expect.any(String),
          attempts: [...attempts, { dry_run: false, outcome: "CREATED", code: null, errors: [] }]
        })
        const fields = "state,staged_at,times_staged,payload_hash,cohort,reverted"
        const list = `/imported-account-import-processes/${supplier.code}/?cohort=wave%202`
        const { import_supplier: _, attempts: __, ...listed } = read.json as Record<string, unknown>
        expect((yield* ask(`${list}&fields=${fields}`)).json).toEqual([listed])
      })
    )
  }
)
