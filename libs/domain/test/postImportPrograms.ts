/**
 * Requests that add to an account, over the small migration in memory: the program on ports with
 * injectable faults, and a valid body for each of its four operations.
 */
import { Effect, Layer, Option, Result, Stream } from "effect"
import { Accounts } from "../src/accounts/Accounts.ts"
import { Documents, DocumentsUnavailable } from "../src/documents/Documents.ts"
import { AuditLog } from "../src/audit/AuditLog.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { layerMemory as accounts } from "../testing/memory/Accounts.ts"
import { layerMemory as paymentVendor } from "../testing/memory/PaymentVendor.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { PaymentVendor, VendorUnavailable } from "../src/payments/PaymentVendor.ts"
import { encodeDescription } from "../testing/describedAccounts.ts"
import type { Failure } from "../src/requests/Failure.ts"
import type { ResponseRecorder } from "../src/idempotency/IdempotencyKey.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import { changeStatus } from "../src/suppliers/Supplier.ts"
import { layer as postImportLayer, PostImport } from "../src/additions/PostImport.ts"
import { type FaultPlan, noFaults, withFaults } from "../testing/faults.ts"
import { putAll, type Wire } from "../testing/wire.ts"
import {
  begin,
  demo,
  key,
  ports,
  processBody,
  programs,
  stageBody,
  supplierCode
} from "./importPrograms.ts"

/** The ports over one empty store. */
export const world = Layer.mergeAll(ports, accounts, paymentVendor)

/** The program, on ports with the faults of the plan. */
export const postImport = Effect.fnUntraced(function* (plan: FaultPlan = noFaults()) {
  const away = () => new DocumentsUnavailable({})
  const mute = () => new VendorUnavailable({})
  const layer = postImportLayer.pipe(
    Layer.provide([
      Layer.succeed(Accounts, withFaults(Accounts, yield* Accounts, plan)),
      Layer.succeed(ImportProcesses, withFaults(ImportProcesses, yield* ImportProcesses, plan)),
      Layer.succeed(Configuration, withFaults(Configuration, yield* Configuration, plan)),
      Layer.succeed(AuditLog, withFaults(AuditLog, yield* AuditLog, plan)),
      Layer.succeed(Documents, withFaults(Documents, yield* Documents, plan, away)),
      Layer.succeed(PaymentVendor, withFaults(PaymentVendor, yield* PaymentVendor, plan, mute))
    ])
  )
  return yield* Effect.provide(PostImport, layer)
})

export type Program = PostImport["Service"]

/** The defaults of the query parameters. */
const byDefault = Result.succeed({
  checkPreviouslyAdded: true,
  forceAddToCurrentStatement: true,
  onDifference: "keep" as const
})

/** A document that the store has. */
export const storedPath = "statements/NL-0004711/2025-01.pdf"

export const transaction = (id: string, values: Wire = {}): Wire => ({
  transaction_id: id,
  transaction_date: "2026-01-10",
  amount: "12.50",
  type: "CREDIT",
  ...values
})

export const statement = (id: string, values: Wire = {}): Wire => ({
  statement_id: id,
  bill_period_from_date: "2025-05-01",
  bill_period_to_date: "2025-05-31",
  ...values
})

/** An operation of the program: how to call it with a valid and with an invalid body. */
interface Operation {
  readonly run: (
    program: Program,
    caller: Caller,
    body: unknown,
    recorder?: ResponseRecorder<unknown>
  ) => Effect.Effect<unknown, Failure>
  readonly body: Wire
  /** A path and a value that break a rule of the request, and the error it then has. */
  readonly broken: readonly [path: string, value: unknown, error: string]
  readonly action: string
}

export const operations = {
  notes: {
    run: (program, caller, body, recorder) =>
      program.createNotes(caller, body, byDefault, recorder),
    body: {
      ...key,
      notes: [{ body: "first" }, { document_paths: [{ document_path: storedPath }] }]
    },
    broken: ["notes.0.body", "", "notes.0.body blank"],
    action: "create_notes"
  },
  transactions: {
    run: (program, caller, body, recorder) =>
      program.createTransactions(caller, body, byDefault, recorder),
    body: { ...key, transactions: [transaction("t1"), transaction("t2")] },
    broken: ["transactions.1.amount", "1.234", "transactions.1.amount max_decimal_places"],
    action: "create_transactions"
  },
  statements: {
    run: (program, caller, body, recorder) => program.createStatements(caller, body, recorder),
    body: { ...key, statements: [statement("s1", { statement_path: storedPath })] },
    broken: [
      "statements.0.bill_period_from_date",
      "2025-06-01",
      "statements.0 start_date_later_than_end_date"
    ],
    action: "create_historical_statements"
  },
  instruction: {
    run: (program, caller, body, recorder) =>
      program.createPaymentInstruction(caller, body, recorder),
    body: { ...key, vendor: "STRIPE", reference: "pm_1", type: "CARD" },
    broken: ["type", "DIRECT_DEBIT", "type invalid_choice"],
    action: "create_payment_instruction"
  }
} as const satisfies { readonly [name: string]: Operation }

export const operationNames = Object.keys(operations) as ReadonlyArray<keyof typeof operations>

/** Calls the operation with its valid body, every path of it set to its value. */
export const call = (
  program: Program,
  name: keyof typeof operations,
  values: Wire = {},
  caller: Caller = demo,
  recorder?: ResponseRecorder<unknown>
): Effect.Effect<unknown, Failure> =>
  operations[name].run(program, caller, putAll(operations[name].body, values), recorder)

/** The sample, imported. */
export const beginImported = Effect.fnUntraced(function* (...settings: Parameters<typeof begin>) {
  yield* begin(...settings)
  const program = yield* programs()
  yield* program.stage(demo, stageBody())
  yield* program.process(demo, processBody())
})

/** The content of the sample's account, as JSON without its number. */
export const onAccount = Effect.gen(function* () {
  const processes = yield* ImportProcesses
  const process = Option.getOrThrow(yield* processes.find(key))
  if (process.account === null) throw new Error("There is no account")
  const port = yield* Accounts
  const described = yield* Stream.runHead(port.describe([process.account.number]))
  return { ...encodeDescription(Option.getOrThrow(described)), kraken_account_number: null }
})

/** The audit log of the sample: action and outcome of every write, without those of the import. */
export const audited = Effect.flatMap(AuditLog, (auditLog) =>
  Effect.map(auditLog.audit(key), (entries) =>
    entries.flatMap(({ action, outcome }) =>
      action === "stage" || action === "process" ? [] : [`${action} ${outcome}`]
    )
  )
)

/** Sets the status of the sample's supplier, as an operator does. */
export const setStatus = (status: "Ongoing" | "Paused" | "Complete") =>
  Effect.flatMap(Configuration, (configuration) =>
    configuration.changeSupplierStatus(supplierCode, (present) =>
      changeStatus(present, status, true)
    )
  )

/** The code of a failure of a program, or the failure itself if it has none. */
export const codeOf = (failure: object): unknown => ("code" in failure ? failure.code : failure)

/** The change that makes the body of the operation break a rule. */
export const brokenBy = (name: keyof typeof operations) => {
  const [path, value] = operations[name].broken
  return { [path]: value }
}
