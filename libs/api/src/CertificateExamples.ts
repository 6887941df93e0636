/** The example requests and responses of certificates. */
import { sampleKey } from "./Examples.ts"

export const certificateParameter = "0b5a4f6e-3c1d-4e0a-9f53-6a1f0c2d7e88"

const root = "5f3c7a0e7d3f1d6a3e1b54b7a1f0f4d2c2b9a9f1f9c7a5f2c0b8e4a6d1c3e5f7"
const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

export const certificateRequest = { payload: { import_supplier: sampleKey.import_supplier } }

const states = { PENDING: 0, FAILED: 0, IN_PROGRESS: 0, SKIPPED: 0, IMPORTED: 2, ERASED: 1 }

export const runningCertificate = {
  certificate_id: certificateParameter,
  import_supplier: sampleKey.import_supplier,
  cohort: null,
  status: "RUNNING",
  requested_at: "2026-11-30T08:00:00Z",
  ended_at: null,
  issued_by: { organisation: "nordlys", role: "client", id: "key_7b0e5a5261c04c1e" },
  counts: null,
  certificate: null,
  jws: null
}

const content = {
  certificate_id: certificateParameter,
  import_supplier: sampleKey.import_supplier,
  cohort: null,
  at: "2026-11-30T08:00:01Z",
  tree_size: 2,
  root,
  states,
  balance_as_imported: "-118.40",
  balance_added: "25.00",
  balance: "-93.40",
  ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", ledgers: 2, balance: "-118.40" }],
  transactions: [{ type: "CHARGE", reason: "IMPORTED_CHARGE", count: 6, amount: "642.12" }],
  statements: { count: 4, gross_amount: "0.00" },
  documents: { count: 0, bytes: 0, root: empty, without_checksum: 0 },
  control_totals: { accounts: 3, balance: "-118.40", ledger_balances: null, matches: false },
  erased: 1,
  reverted: 0,
  hash_recomputed: 0,
  version: 1,
  iss: "https://import.example.com",
  mode: "live",
  issued_by: runningCertificate.issued_by,
  previous: null
}

export const jws = "eyJhbGciOiJFZERTQSJ9.eyJ2ZXJzaW9uIjoxfQ.c2lnbmF0dXJl"

export const issuedCertificate = {
  ...runningCertificate,
  status: "ISSUED",
  ended_at: "2026-11-30T08:00:02Z",
  counts: { tree_size: 2, states, erased: 1, reverted: 0, documents: 0 },
  certificate: content,
  jws
}

const { certificate: _, jws: __, ...rest } = issuedCertificate

/** As a key without `account:read` sees it. */
export const certificateWithoutBalances = rest

export const proof = {
  leaf_index: 0,
  entry: {
    account: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    added: "",
    balance: "-59.20",
    external_account_number: sampleKey.external_account_number,
    ledgers: [{ balance: "-59.20", ledger_code: "ELECTRICITY_LEDGER" }]
  },
  path: ["2c624232cdd221771294dfbb310aca000a0df6ac8b66b696d90ef06fdefb64a3"]
}

export const nodes = [
  {
    index: 0,
    first: sampleKey.external_account_number,
    last: "NL-0004712",
    count: 2,
    hash: root
  }
]

export const certificateKeys = {
  keys: [
    {
      kty: "OKP",
      crv: "Ed25519",
      x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
      alg: "EdDSA",
      use: "sig"
    }
  ]
}
