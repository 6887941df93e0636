/** A valid request of every operation, which the cases alter in one place. */
import {
  domesticPayload,
  instructionPayload,
  notesPayload,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import type { Wire } from "@data-import/domain/testing/wire"
import { get, post, type Request } from "./Case.ts"
import { fixedCertificate } from "./CertificateSetup.ts"
import * as Batches from "./FixedBatches.ts"
import { operations, type Operation } from "./Document.ts"
import { team } from "@data-import/testbed/Tenants"
import { dryRun, imported, readAccount, readSupplier, staged, supplier } from "./TenantNames.ts"

/** The operations that take a JSON body. */
export const bodied: ReadonlyArray<Operation> = operations.filter(({ body }) => body !== null)
/** Those of them with POST. */
export const posts: ReadonlyArray<Operation> = bodied.filter(({ method }) => method === "POST")
/** Those that only read. */
export const gets: ReadonlyArray<Operation> = operations.filter(({ method }) => method === "GET")

const key = { import_supplier: supplier, external_account_number: imported[0] ?? "" }

const account = { ...domesticPayload(), import_supplier: supplier, external_account_number: staged }

const process = { ...key, external_account_number: dryRun, operations_team_name: team }

const bodies: Readonly<Record<string, Wire>> = {
  validateAccount: { payload: account },
  stageAccount: { payload: account },
  processAccount: { payload: { ...process, dry_run: true }, task_params: {} },
  createDocumentUpload: {
    payload: {
      import_supplier: supplier,
      document_path: "statements/new.pdf",
      size: 48_213,
      sha256: "0".repeat(64)
    }
  },
  createNotes: { ...notesPayload(), ...key },
  createTransactions: { ...transactionsPayload(), ...key },
  createHistoricalStatements: { ...statementsPayload(), ...key },
  createPaymentInstruction: { ...instructionPayload(), ...key },
  createBatch: {
    payload: {
      import_supplier: supplier,
      operation: "IMPORT",
      name: "Wave 3",
      operations_team_name: team,
      dry_run: true,
      cohort: "wave-3",
      max_failures: 5
    }
  },
  issueCertificate: { payload: { import_supplier: supplier, cohort: "wave-3" } },
  setControlTotals: {
    expected: {
      accounts: 187,
      balance: "-1204.36",
      ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", balance: "-981.10" }]
    }
  },
  changeImport: { cohort: "wave-4" },
  revertImport: { payload: { kraken_account_number: "A-00000000", reason: "Wrong sign" } },
  startBatch: { payload: { total_lines: 1 } },
  obtainServiceToken: {
    query: "query Named($wanted: Boolean!) { version @include(if: $wanted) }",
    variables: { wanted: true },
    operationName: "Named"
  }
}

/** The possible answers to a valid request of any operation, depending on earlier requests. */
export const validAnswers: ReadonlyArray<string> = [
  "200",
  "201",
  "202",
  "304",
  "409 account_number_differs",
  "409 batch_limit_exceeded",
  "409 batch_upload_superseded",
  "400 dry_run_successful",
  "400 account_import_process_in_progress",
  "400 account_import_process_already_imported",
  "400 active_payment_instruction_exists"
]

/** The possible answers to a body with one altered value. */
export const answersToOneChange: ReadonlyArray<string> = [
  ...validAnswers,
  "400 parse_error",
  "400 account_failed_validation",
  "400 request_failed_validation",
  "400 import_process_does_not_exist",
  "400 operations_team_name_does_not_exist",
  "400 duplicate_transaction_ids",
  "400 payment_instruction_rejected_by_vendor",
  "400 batch_line_count_mismatch",
  "404 not_found"
]

/**
 * A valid body of the operation.
 * @throws Error if the table above has none.
 */
export const validBody = (id: string): Wire => {
  const body = bodies[id]
  if (body === undefined) throw new Error(`There is no valid body of ${id}`)
  return body
}

/** The operation's path, with values in place of its parameters. */
export const pathOf = (asked: Operation): string =>
  Batches.withBatch(asked)
    .replace("{import_supplier}", supplier)
    .replace(
      "{external_account_number}",
      asked.id === "changeImport" ? staged : (imported[0] ?? "")
    )
    .replace("{kraken_account_number}", readAccount)
    .replace("{certificate_id}", fixedCertificate)

/** The operation with this body. */
export const withBody = (asked: Operation, body: unknown): Request => {
  const who = asked.id === "obtainServiceToken" ? "nobody" : "demo"
  return { ...post(pathOf(asked), body, who), method: asked.method }
}

/** The required parameters of a request, and those that keep its answer short in a long run. */
export const shortened = ({ id }: Operation): string => {
  if (id === "listAccounts") return `import_supplier=${readSupplier}`
  if (id === "listBatches" || id === "listCertificates")
    return `import_supplier=${supplier}&limit=2`
  return id.startsWith("list") && id !== "listBatchProblems" ? "limit=2" : ""
}

/** A valid request. */
export const validRequest = (asked: Operation): Request => {
  if (asked.body !== null) return withBody(asked, validBody(asked.id))
  const path = pathOf(asked)
  if (asked.takesLines) return Batches.put(path, Batches.openLines)
  const bare = get(asked.method === "GET" ? `${path}?${shortened(asked)}` : path)
  const who = asked.id === "resetSandbox" ? "tester" : bare.who
  return { ...bare, method: asked.method, who }
}

/** Methods with a body; with any other a body is refused, and its connection ends. */
export const methodsWithBody: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"])
