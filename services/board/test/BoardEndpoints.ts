/**
 * Every endpoint of the board's API, and a migration to call them with. The list comes from the
 * definition, so a new endpoint is tested like all others.
 */
import { Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import {
  BoardActionGroup,
  BoardGroup,
  BoardSessionGroup,
  changesPath
} from "@data-import/api/board/BoardApi"
import * as Batch from "@data-import/domain/batch/Batch"
import type { BoardUser } from "@data-import/domain/organisation/BoardUser"
import { Batches } from "@data-import/domain/ports/Batches"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { stagedContent } from "@data-import/domain/testing/importStates"
import { type Browser, sessionOf } from "./boardService.ts"

export interface Endpoint {
  readonly identifier: string
  readonly method: string
  readonly path: string
  /** The names of its query's parameters. */
  readonly parameters: ReadonlyArray<string>
}

const parametersIn = ({ query }: HttpApiEndpoint.Top): ReadonlyArray<string> => {
  const { schema } = (query ?? {}) as { readonly schema?: { readonly fields?: object } }
  return Object.keys(schema?.fields ?? {})
}

const endpointsOf = (group: { readonly endpoints: object }): ReadonlyArray<Endpoint> =>
  (Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>).map((endpoint) => {
    const { identifier, method, path } = endpoint
    return { identifier, method, path, parameters: parametersIn(endpoint) }
  })

const ofSession = endpointsOf(BoardSessionGroup)
export const actions = endpointsOf(BoardActionGroup)
export const changes: Endpoint = {
  identifier: "changes",
  method: "GET",
  path: changesPath,
  parameters: []
}
export const all = [...ofSession, ...endpointsOf(BoardGroup), changes, ...actions]
export const writes = [...ofSession.filter(({ method }) => method !== "GET"), ...actions]

const processing = () => ({
  batch_id: crypto.randomUUID(),
  selection: {},
  operations_team_name: "Migration Team"
})

/** Valid bodies, by endpoint. */
const bodies: Readonly<Record<string, (supplier: string) => object>> = {
  setPlan: () => ({ points: [] }),
  setStatus: () => ({ status: "Paused" }),
  setCohort: () => ({ cohort: "x", selection: {}, after: "a" }),
  processCohort: processing,
  retryFailed: processing,
  signOff: (supplier) => ({ import_supplier: supplier, accept_open: true }),
  linkDocument: () => ({ document: 0 })
}

export const bodyFor = ({ identifier }: Endpoint, supplier: string): object =>
  bodies[identifier]?.(supplier) ?? {}

export interface Named {
  readonly supplier: string
  readonly number: string
  readonly batch: string
}

export const pathOf = ({ path }: Endpoint, { batch, number, supplier }: Named): string =>
  path
    .replace(":import_supplier", encodeURIComponent(supplier))
    .replace(":external_account_number", encodeURIComponent(number))
    .replace(":batch_id", batch)

export const ask = Effect.fnUntraced(function* (
  one: Browser,
  endpoint: Endpoint,
  named: Named,
  headers: Readonly<Record<string, string>> = {}
) {
  const { method } = endpoint
  return method === "GET"
    ? yield* one.get(pathOf(endpoint, named), headers)
    : yield* one.post(
        pathOf(endpoint, named),
        headers,
        JSON.stringify(bodyFor(endpoint, named.supplier))
      )
})

/** A supplier with an import and a started batch. */
export const migration = Effect.gen(function* () {
  const owner = yield* freshSupplier
  const { caller, keyOf, supplier } = owner
  const imports = yield* ImportProcesses
  yield* imports.stage({
    key: keyOf("a"),
    ...stagedContent,
    cohort: null,
    caller,
    at: noon
  })
  const batches = yield* Batches
  const id = Batch.BatchId.make(crypto.randomUUID())
  const settings = {
    ...Batch.defaultSettings,
    supplier: supplier.code,
    operation: "PROCESS",
    operationsTeam: "Migration Team",
    pending: {}
  } as const
  yield* batches.create({ id, settings, limit: 20, caller, at: noon })
  const named: Named = { supplier: supplier.code, number: "a", batch: id }
  return { ...owner, named }
})

export const manager = (organisations: BoardUser["organisations"]): BoardUser => ({
  subject: crypto.randomUUID(),
  name: "mia",
  role: "manager",
  organisations
})

export const tokenOf = (one: Browser) =>
  Effect.map(sessionOf(one), ({ csrf_token }) => ({ "x-csrf-token": csrf_token }))
