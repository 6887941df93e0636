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
import type { BoardUser } from "@data-import/domain/access/BoardUser"
import { CertificateId, Certificates } from "@data-import/domain/certificates/Certificates"
import { createdIn, createFor, processSettings } from "@data-import/domain/testing/begunBatches"
import type { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { freshSupplier, noon } from "@data-import/domain/testing/freshNames"
import { type Owner, stage } from "@data-import/domain/testing/importStates"
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
  setBoardControlTotals: () => ({ cohort: null, expected: { accounts: 1 } }),
  setStatus: () => ({ status: "Paused", reason: "x" }),
  addComment: () => ({
    comment_id: crypto.randomUUID(),
    about: "comment",
    cohort: null,
    external_account_number: null,
    text: "x"
  }),
  setCohort: () => ({ move_id: crypto.randomUUID(), cohort: "x", selection: {}, after: "a" }),
  undoMove: () => ({ undo_id: crypto.randomUUID() }),
  processCohort: processing,
  previewProcess: () => ({ selection: {} }),
  undoWave: () => ({
    batch_id: crypto.randomUUID(),
    cohort: "wave-1",
    reason: "x",
    with_additions: false
  }),
  decideWave: () => ({ cohort: "wave-1", decision: "GO", rehearsal_id: null, note: "Why" }),
  planWave: () => ({ cohort: "w", starts_on: null, owner: null, accounts: 1, start: null }),
  issueBoardCertificate: () => ({ certificate_id: crypto.randomUUID(), cohort: null }),
  signOff: (supplier) => ({
    import_supplier: supplier,
    accept_open: true,
    reason: "x",
    certificate_id: null
  }),
  inviteSupplier: () => ({ person: "ann" }),
  linkDocument: () => ({ document: 0 }),
  setAlerts: () => ({ kinds: [], failing_share: 5, import_suppliers: null, email: null }),
  testAlerts: () => ({ way: "email" })
}

export const bodyFor = ({ identifier }: Endpoint, supplier: string): object =>
  bodies[identifier]?.(supplier) ?? {}

export interface Named {
  readonly supplier: string
  readonly number: string
  readonly batch: string
  readonly certificate: string
  readonly move: string
  readonly invitation: string
}

export const pathOf = (
  { path }: Endpoint,
  { batch, certificate, invitation, move, number, supplier }: Named
): string =>
  path
    .replace(":import_supplier", encodeURIComponent(supplier))
    .replace(":external_account_number", encodeURIComponent(number))
    .replace(":batch_id", batch)
    .replace(":certificate_id", certificate)
    .replace(":move_id", move)
    .replace(":invitation_id", invitation)

/** Parameters that are required, by endpoint. */
const queries: Readonly<Record<string, string>> = { reviewWave: "?cohort=wave-1" }

export const ask = Effect.fnUntraced(function* (
  one: Browser,
  endpoint: Endpoint,
  named: Named,
  headers: Readonly<Record<string, string>> = {}
) {
  const { method } = endpoint
  return method === "GET"
    ? yield* one.get(`${pathOf(endpoint, named)}${queries[endpoint.identifier] ?? ""}`, headers)
    : yield* one.post(
        pathOf(endpoint, named),
        headers,
        JSON.stringify(bodyFor(endpoint, named.supplier))
      )
})

/**
 * A supplier with an import, and a batch that is not started. The move and the invitation do not
 * exist.
 */
export const migrationOf = Effect.fnUntraced(function* (owner: Owner) {
  const { caller, supplier } = owner
  yield* stage(owner, ["a"])
  const { id } = createdIn(yield* createFor(owner, { ...processSettings, pending: {} }))
  const { addKeys, request } = yield* Certificates
  yield* addKeys([{ kid: "k", x: "x" }], noon)
  const certificate = CertificateId.make(crypto.randomUUID())
  const issuer = { organisation: caller.organisation, role: "client", id: caller.apiKey }
  const asked = { id: certificate, cohort: null, issuer, caller, at: noon, recorder: null }
  yield* request({ ...asked, supplier: supplier.code })
  const move = crypto.randomUUID()
  const invitation = crypto.randomUUID()
  const named: Named = {
    supplier: supplier.code,
    number: "a",
    batch: id,
    certificate,
    move,
    invitation
  }
  return { ...owner, named }
})

export const nowhere: Named = {
  supplier: "NOBODY",
  number: "a",
  batch: crypto.randomUUID(),
  certificate: "c",
  move: "m",
  invitation: "i"
}

/**
 * Answers of `migration` other than 200. The import has no such document and was never moved; the
 * batch has not started, and the certificate not ended.
 */
export const statuses: Readonly<Record<string, number>> = {
  exportCertificate: 404,
  exportSignedCertificate: 404,
  getMove: 404,
  undoMove: 404,
  printCertificate: 404,
  linkDocument: 404,
  listBoardOutcomeLines: 404,
  revokeInvitation: 404,
  pauseBoardBatch: 409,
  resumeBoardBatch: 409
}

export const migration = Effect.flatMap(freshSupplier, migrationOf)

/** A user of these suppliers. */
export const ofSuppliers = (...suppliers: ReadonlyArray<SupplierCode>): BoardUser => ({
  subject: crypto.randomUUID(),
  name: "sue",
  role: "supplier",
  organisations: [],
  suppliers
})

export const manager = (organisations: BoardUser["organisations"]): BoardUser => ({
  subject: crypto.randomUUID(),
  name: "mia",
  role: "manager",
  organisations,
  suppliers: null
})

export const tokenOf = (one: Browser) =>
  Effect.map(sessionOf(one), ({ csrf_token }) => ({ "x-csrf-token": csrf_token }))
