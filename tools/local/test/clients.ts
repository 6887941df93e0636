/** Clients of the running system, and every operation that names a supplier. */
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { type Request, send } from "@data-import/api/testing/Client"
import { type Supplier, wireCode } from "@data-import/domain/suppliers/Supplier"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import {
  freshOrganisation,
  freshTestOrganisation,
  supplierOf,
  testSupplierOf
} from "@data-import/domain/testing/freshNames"
import {
  domesticPayload,
  instructionPayload,
  notesPayload,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import { tokenFor, WholeSystem } from "./wholeSystem.ts"

export const team = "Migration Team"

interface Key {
  readonly import_supplier: string
  readonly external_account_number: string
}

type Ask = (supplier: string, number: string) => Omit<Request, "headers">

const posting =
  (path: string, body: (key: Key) => unknown): Ask =>
  (import_supplier, external_account_number) => ({
    path,
    body: JSON.stringify(body({ import_supplier, external_account_number }))
  })

const at =
  (path: string): Ask =>
  (supplier, number) => ({
    path: path.replace("{import_supplier}", supplier).replace("{external_account_number}", number)
  })

export const root = "/v1/data-import"
const stagePath = `${root}/account-import-process/create-or-update/`
const processPath = `${root}/account-import-process/process/`

const stage = posting(stagePath, (key) => ({ payload: { ...domesticPayload(), ...key } }))
const processing = (dry_run: boolean) =>
  posting(processPath, (key) => ({ payload: { ...key, operations_team_name: team, dry_run } }))

export const batches = `${root}/batches/`
export const accounts = `${root}/accounts/`
export const certificates = `${root}/certificates/`

/** The requests about a certificate, by the path after its id. */
export const ofCertificate = ["", "proofs/imported/", "hashes/"]

const uploadPayload = { document_path: "new.pdf", size: 7, sha256: "0".repeat(64) }

/** By the template of the document's path; several where an operation has several ways. */
export const operations: Readonly<Record<string, ReadonlyArray<Ask>>> = {
  [`${root}/validate-account/`]: [
    posting(`${root}/validate-account/`, (key) => ({ payload: { ...domesticPayload(), ...key } })),
    posting(`${root}/validate-account/`, (key) => ({ payload: { ...key, customers: "wrong" } }))
  ],
  [stagePath]: [
    stage,
    posting(stagePath, (key) => ({ payload: { ...key, unknown_occupier: "wrong" } }))
  ],
  [processPath]: [
    processing(false),
    processing(true),
    posting(processPath, (key) => ({ payload: { ...key, operations_team_name: "Nobody" } }))
  ],
  [`${root}/documents/`]: [
    posting(`${root}/documents/`, ({ import_supplier }) => ({
      payload: { ...uploadPayload, import_supplier }
    }))
  ],
  [`${root}/notes/create/`]: [
    posting(`${root}/notes/create/`, (key) => ({ ...notesPayload(), ...key }))
  ],
  [`${root}/transactions/create/`]: [
    posting(`${root}/transactions/create/`, (key) => ({ ...transactionsPayload(), ...key })),
    posting(`${root}/transactions/create/?force_add_to_current_statement=false`, (key) => ({
      ...transactionsPayload(),
      ...key
    }))
  ],
  [`${root}/historical-statements/create/`]: [
    posting(`${root}/historical-statements/create/`, (key) => ({ ...statementsPayload(), ...key }))
  ],
  [`${root}/payment-instruction/create/`]: [
    posting(`${root}/payment-instruction/create/`, (key) => ({ ...instructionPayload(), ...key }))
  ],
  [`${root}/account-transfer-status/{import_supplier}/{external_account_number}/`]: [
    at(`${root}/account-transfer-status/{import_supplier}/{external_account_number}/`)
  ],
  [accounts]: [(supplier) => ({ path: `${accounts}?import_supplier=${supplier}` })],
  [`${root}/imports/{import_supplier}/{external_account_number}/`]: [
    at(`${root}/imports/{import_supplier}/{external_account_number}/`),
    (supplier, number) => ({
      method: "PATCH",
      path: `${root}/imports/${supplier}/${number}/`,
      body: JSON.stringify({ cohort: "wave" })
    })
  ],
  [`${root}/imports/{import_supplier}/{external_account_number}/revert/`]: [
    (supplier, number) => ({
      path: `${root}/imports/${supplier}/${number}/revert/`,
      body: JSON.stringify({ payload: { kraken_account_number: "A-00000000", reason: "Wrong" } })
    })
  ],
  [`${root}/suppliers/{import_supplier}/summary/`]: [
    at(`${root}/suppliers/{import_supplier}/summary/`)
  ],
  [`${root}/suppliers/{import_supplier}/configuration/`]: [
    at(`${root}/suppliers/{import_supplier}/configuration/`)
  ],
  [batches]: [
    posting(batches, ({ import_supplier }) => ({
      payload: { import_supplier, operation: "STAGE" }
    })),
    (supplier) => ({ path: `${batches}?import_supplier=${supplier}` })
  ],
  [certificates]: [
    posting(certificates, ({ import_supplier }) => ({ payload: { import_supplier } })),
    (supplier) => ({ path: `${certificates}?import_supplier=${supplier}` })
  ],
  [`${root}/control-totals/{import_supplier}/`]: [
    at(`${root}/control-totals/{import_supplier}/`),
    (supplier) => ({
      method: "PUT",
      path: `${root}/control-totals/${supplier}/`,
      body: JSON.stringify({ expected: { accounts: 1 } })
    })
  ],
  [`${root}/events/`]: [(supplier) => ({ path: `${root}/events/?import_supplier=${supplier}` })],
  ...Object.fromEntries(
    ["all", "pending", "imported"].map((kind) => {
      const path = `${root}/${kind}-account-import-processes/{import_supplier}/`
      return [
        path,
        [at(path), at(`${path}?limit=1`), at(`${path}?after=0`), at(`${path}?failed=true`)]
      ]
    })
  )
}

export const ways = Object.entries(operations).flatMap(([template, asks]) =>
  asks.map((ask, way) => [`${template} (${way + 1})`, ask] as const)
)

const json = { "content-type": "application/json" }

/** The requests about a batch, by the path after its id. */
export const ofBatch: Readonly<Record<string, Omit<Request, "path">>> = {
  "": {},
  "lines/": {
    method: "PUT",
    headers: { "content-type": "application/x-ndjson" },
    body: '{"external_account_number":"L"}\n'
  },
  "start/": { headers: json, body: '{"payload":{"total_lines":0}}' },
  "pause/": { method: "POST" },
  "resume/": { method: "POST" },
  "cancel/": { method: "POST" },
  "results/": {},
  "problems/": {},
  "forecast/": {},
  "outcome/": {},
  "outcome/lines/": {}
}

export const batchRequests = Object.entries(ofBatch)

/** A creation that names another batch. */
export const retry = (import_supplier: string, retry_of: string): Omit<Request, "headers"> => ({
  path: batches,
  body: JSON.stringify({ payload: { import_supplier, operation: "STAGE", retry_of } })
})

export const noBatch = "3b1f0f4e-58a1-4a7e-9d3a-5f6d1a0b2c3d"

/** A client with this supplier, on which it imports one account and stages another. */
export const clientWith = Effect.fnUntraced(function* (stored: Supplier) {
  const setup = yield* Configuration
  yield* setup.createSupplier(stored)
  const { organisation } = stored
  const supplier = { organisation, code: wireCode(stored.code) }
  const token = yield* tokenFor(organisation)
  const ask = Effect.fnUntraced(function* (
    request: Omit<Request, "headers">,
    key?: string,
    type: Request["headers"] = json
  ) {
    const { gatewayUrl } = yield* WholeSystem
    const headers = {
      authorization: `Token ${token}`,
      ...type,
      ...(key !== undefined && { "idempotency-key": key })
    }
    return yield* send(gatewayUrl, { ...request, headers })
  })
  const askOf = (batch: string, rest: string, key?: string) => {
    const { headers, ...request } = ofBatch[rest] ?? {}
    return ask({ path: `${batches}${batch}/${rest}`, ...request }, key, headers)
  }
  /** A new batch of one line, of which every request can be made. */
  const batch = Effect.gen(function* () {
    const rehearsal = { operation: "PROCESS", operations_team_name: team, dry_run: true }
    const payload = { import_supplier: supplier.code, ...rehearsal }
    const created = yield* ask({ path: batches, body: JSON.stringify({ payload }) })
    const { batch_id } = created.json as { readonly batch_id: string }
    expect((yield* askOf(batch_id, "lines/")).status).toBe(200)
    return batch_id
  })
  const imported = Effect.gen(function* () {
    expect((yield* ask(stage(supplier.code, "staged"))).status).toBe(201)
    expect((yield* ask(stage(supplier.code, "imported"))).status).toBe(201)
    const processed = yield* ask(processing(false)(supplier.code, "imported"))
    expect(processed.status).toBe(201)
    return (processed.json as { readonly kraken_account_number: string }).kraken_account_number
  })
  return { ask, askOf, batch, imported, supplier }
})

export const client = Effect.flatMap(freshOrganisation, ({ name }) => clientWith(supplierOf(name)))

/** A live client and its test client, with suppliers of other codes. */
export const siblings = Effect.gen(function* () {
  const { name: organisation } = yield* freshOrganisation
  const { name: test } = yield* freshTestOrganisation(organisation)
  return {
    live: yield* clientWith(supplierOf(organisation)),
    test: yield* clientWith(testSupplierOf(test))
  }
})

/** What a caller can see of an answer, except for parts that always differ. */
export const seen = ({
  headers,
  status,
  text
}: {
  readonly headers: Readonly<Record<string, string>>
  readonly status: number
  readonly text: string
}) => {
  const { date: _, "x-request-id": __, ...same } = headers
  return { status, text, headers: same }
}
