import { describe, expect, it } from "vitest"
import { Context } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { Api } from "../src/Api.ts"
import { BatchGroup } from "../src/BatchApi.ts"
import { scopeOf } from "../src/Authorization.ts"
import { Docs, keyRefusalOf } from "../src/Operation.ts"

interface Listed {
  readonly name: string
  readonly endpoint: HttpApiEndpoint.Top
}

const listed: Array<Listed> = []
// `Api` includes the batches already.
HttpApi.reflect(Api.add(BatchGroup), {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint }) => {
    listed.push({ name: endpoint.identifier, endpoint })
  }
})

const root = "/v1/data-import"

describe("Api", () => {
  it("has exactly the paths of the contract", () => {
    const paths = listed.map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`)
    expect(paths.sort()).toEqual(
      [
        `POST ${root}/validate-account/`,
        `POST ${root}/account-import-process/create-or-update/`,
        `POST ${root}/account-import-process/process/`,
        `POST ${root}/documents/`,
        `POST ${root}/sandbox/reset/`,
        `POST ${root}/notes/create/`,
        `POST ${root}/transactions/create/`,
        `POST ${root}/historical-statements/create/`,
        `POST ${root}/payment-instruction/create/`,
        `GET ${root}/account-transfer-status/:import_supplier/:external_account_number/`,
        `GET ${root}/imports/:import_supplier/:external_account_number/`,
        `PATCH ${root}/imports/:import_supplier/:external_account_number/`,
        `POST ${root}/imports/:import_supplier/:external_account_number/revert/`,
        `GET ${root}/suppliers/:import_supplier/summary/`,
        `GET ${root}/suppliers/:import_supplier/configuration/`,
        `GET ${root}/all-account-import-processes/:import_supplier/`,
        `GET ${root}/pending-account-import-processes/:import_supplier/`,
        `GET ${root}/imported-account-import-processes/:import_supplier/`,
        `GET ${root}/accounts/:kraken_account_number/`,
        `GET ${root}/accounts/`,
        `GET ${root}/events/`,
        `GET ${root}/limits/`,
        `POST ${root}/batches/`,
        `PUT ${root}/batches/:batch_id/lines/`,
        `POST ${root}/batches/:batch_id/start/`,
        `POST ${root}/batches/:batch_id/pause/`,
        `POST ${root}/batches/:batch_id/resume/`,
        `POST ${root}/batches/:batch_id/cancel/`,
        `GET ${root}/batches/:batch_id/`,
        `GET ${root}/batches/`,
        `GET ${root}/batches/:batch_id/results/`,
        `GET ${root}/batches/:batch_id/problems/`,
        `GET ${root}/batches/:batch_id/forecast/`,
        `GET ${root}/batches/:batch_id/outcome/`,
        `GET ${root}/batches/:batch_id/outcome/lines/`,
        `PUT ${root}/control-totals/:import_supplier/`,
        `GET ${root}/control-totals/:import_supplier/`,
        `POST ${root}/certificates/`,
        `GET ${root}/certificates/`,
        `GET ${root}/certificates/:certificate_id/`,
        `GET ${root}/certificates/:certificate_id/proofs/:external_account_number/`,
        `GET ${root}/certificates/:certificate_id/hashes/`,
        "GET /.well-known/certificate-keys.json",
        "POST /v1/graphql/",
        "GET /.well-known/jwks.json"
      ].sort()
    )
  })

  it("requires a token on every operation except those that issue one", () => {
    const open = listed.filter(({ endpoint }) => scopeOf(endpoint) === null).map(({ name }) => name)
    expect(open).toEqual(["getCertificateKeys", "obtainServiceToken", "getSigningKeys"])
  })

  it("requires import:write for changes, and import:read otherwise", () => {
    const writes = listed
      .filter(({ endpoint }) => scopeOf(endpoint) === "import:write")
      .map(({ name }) => name)
    expect(writes).toEqual([
      "stageAccount",
      "processAccount",
      "changeImport",
      "createDocumentUpload",
      "resetSandbox",
      "createNotes",
      "createTransactions",
      "createHistoricalStatements",
      "createPaymentInstruction",
      "createBatch",
      "sendBatchLines",
      "startBatch",
      "pauseBatch",
      "resumeBatch",
      "cancelBatch",
      "issueCertificate",
      "setControlTotals"
    ])
  })

  it("requires account:read for operations that answer accounts", () => {
    const reads = listed.filter(({ endpoint }) => scopeOf(endpoint) === "account:read")
    expect(reads.map(({ name }) => name)).toEqual([
      "getCertificateProof",
      "listCertificateHashes",
      "getControlTotals",
      "getAccount",
      "listAccounts"
    ])
  })

  it("accepts an Idempotency-Key on every POST that stores something", () => {
    const keyed = listed.filter(({ endpoint }) => keyRefusalOf(endpoint) !== null)
    const posts = listed
      .filter(
        ({ endpoint }) =>
          endpoint.method === "POST" && /^import:(write|revert)$/.test(scopeOf(endpoint) ?? "")
      )
      .map(({ name }) => name)
    // An upload link is only signed.
    const storing = posts.filter((name) => name !== "createDocumentUpload")
    expect(keyed.map(({ name }) => name)).toEqual(storing)
  })

  it("describes exactly the parameters that it accepts", () => {
    for (const { endpoint, name } of listed) {
      const inPath = [...endpoint.path.matchAll(/:(\w+)/g)].map((match) => match[1])
      const described = Object.keys(Context.get(endpoint.annotations, Docs).parameters ?? {})
      expect(described, name).toEqual(expect.arrayContaining(inPath))
      const inQuery = described.filter((parameter) => !inPath.includes(parameter))
      expect(
        endpoint.query === undefined ? [] : Object.keys(fieldsOf(endpoint.query)),
        name
      ).toEqual(inQuery)
    }
  })
})

const fieldsOf = (schema: object): object => {
  const { ast } = schema as {
    readonly ast: { readonly propertySignatures: ReadonlyArray<{ readonly name: string }> }
  }
  return Object.fromEntries(ast.propertySignatures.map(({ name }) => [name, true]))
}
