/**
 * A body of every operation that takes one, with which nothing is wrong: what a case begins with
 * that spoils it.
 */
import {
  domesticPayload,
  instructionPayload,
  notesPayload,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import type { Wire } from "@data-import/domain/testing/wire"
import { operations, type Operation } from "./Document.ts"
import { team } from "@data-import/testbed/Tenants"
import { imported, dryRun, staged, supplier } from "./Tenant.ts"

/** The operations that take a body. */
export const posts: ReadonlyArray<Operation> = operations.filter(({ body }) => body !== null)
/** And those that take none. */
export const gets: ReadonlyArray<Operation> = operations.filter(({ body }) => body === null)

const key = { import_supplier: supplier, external_account_number: imported[0] ?? "" }

const account = { ...domesticPayload(), import_supplier: supplier, external_account_number: staged }

const process = { ...key, external_account_number: dryRun, operations_team_name: team }

const bodies: Readonly<Record<string, Wire>> = {
  validateAccount: { payload: account },
  stageAccount: { payload: account },
  processAccount: { payload: { ...process, dry_run: true }, task_params: {} },
  createNotes: { ...notesPayload(), ...key },
  createTransactions: { ...transactionsPayload(), ...key },
  createHistoricalStatements: { ...statementsPayload(), ...key },
  createPaymentInstruction: { ...instructionPayload(), ...key },
  obtainServiceToken: {
    query: "query Named($wanted: Boolean!) { version @include(if: $wanted) }",
    variables: { wanted: true },
    operationName: "Named"
  }
}

/** What a sound request of any operation is answered, whatever was asked before. */
export const soundAnswers: ReadonlyArray<string> = [
  "200",
  "201",
  "400 dry_run_successful",
  "400 account_import_process_in_progress",
  "400 account_import_process_already_imported",
  "400 active_payment_instruction_exists"
]

/** What a body may be answered in which one value is another. */
export const answersToOneChange: ReadonlyArray<string> = [
  ...soundAnswers,
  "400 parse_error",
  "400 account_failed_validation",
  "400 request_failed_validation",
  "400 import_process_does_not_exist",
  "400 operations_team_name_does_not_exist",
  "400 duplicate_transaction_ids",
  "400 payment_instruction_rejected_by_vendor",
  "404 not_found"
]

/**
 * The sound body of the operation.
 * @throws when nobody has said what it is.
 */
export const soundBody = (id: string): Wire => {
  const body = bodies[id]
  if (body === undefined) throw new Error(`Nobody has said what a sound body of ${id} is`)
  return body
}
