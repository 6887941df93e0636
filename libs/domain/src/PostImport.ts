/**
 * Adding to an account what did not travel with it: notes, transactions, historical statements, a
 * payment instruction. A request is stored whole or not at all, and one that is sent again changes
 * nothing and answers the same. Source: specification, "Post-import endpoints"; decisions,
 * "Post-import".
 */
import { Context, Effect, Layer, Option, Result } from "effect"
import { Accounts, type Decision } from "../ports/Accounts.ts"
import { Documents, type DocumentsUnavailable } from "../ports/Documents.ts"
import { type AuditAction, History } from "../ports/History.ts"
import { ImportProcesses } from "../ports/ImportProcesses.ts"
import { OperatorSetup } from "../ports/OperatorSetup.ts"
import { PaymentVendor } from "../ports/PaymentVendor.ts"
import type { StorageUnavailable } from "../ports/StorageUnavailable.ts"
import type { AccountNumber } from "./Account.ts"
import type { AccountView, Looked } from "./AccountChange.ts"
import { recordRefusals } from "./Audit.ts"
import { type Examined, makeExaminer, requireOngoing } from "./Examination.ts"
import {
  AccountNotFound,
  type Failure,
  type Fault,
  ImportProcessDoesNotExist,
  NotFound,
  PaymentInstructionRejected,
  PaymentVendorUnavailable,
  PaymentVendorUnreachable,
  unavailable,
  ValidationFailed
} from "./Failure.ts"
import { dayOf } from "./Field.ts"
import type { ImportKey } from "./ImportProcess.ts"
import { decideNotes, type NoteResult, notesToLookAt } from "./NoteImport.ts"
import type { Caller } from "./Organisation.ts"
import { decideInstruction, type PaymentInstruction } from "./PaymentInstruction.ts"
import {
  instructionRequest,
  notesRequest,
  type StatementsRequest,
  statementsRequest,
  transactionsRequest
} from "./PostImportValidation.ts"
import { decideStatements } from "./StatementImport.ts"
import { decideTransactions, type TransactionResult } from "./TransactionImport.ts"
import type { Validator } from "./Validation.ts"

/** The parameters of the transactions import; both are true unless the request says otherwise. */
export interface TransactionParameters {
  readonly checkPreviouslyAdded: boolean
  readonly forceAddToCurrentStatement: boolean
}

export interface InstructionCreated {
  readonly kraken_account_number: AccountNumber
  readonly reference: string
}

export class PostImport extends Context.Service<
  PostImport,
  {
    /** One result a note, in the order of the request. */
    readonly createNotes: (
      caller: Caller,
      body: unknown
    ) => Effect.Effect<ReadonlyArray<NoteResult>, Failure>
    /**
     * One result a transaction, in the order of the request; all are added, or none. Faults of the
     * parameters are reported together with those of the body, before them.
     */
    readonly createTransactions: (
      caller: Caller,
      body: unknown,
      parameters: Result.Result<TransactionParameters, ReadonlyArray<Fault>>
    ) => Effect.Effect<ReadonlyArray<TransactionResult>, Failure>
    /** The validated request. */
    readonly createStatements: (
      caller: Caller,
      body: unknown
    ) => Effect.Effect<StatementsRequest, Failure>
    /**
     * Asks the vendor before anything is stored, unless the instruction is on the account already.
     */
    readonly createPaymentInstruction: (
      caller: Caller,
      body: unknown
    ) => Effect.Effect<InstructionCreated, Failure>
  }
>()("@data-import/domain/PostImport") {}

type Unavailable = StorageUnavailable | DocumentsUnavailable

const keyOf = ({ external_account_number, import_supplier }: ImportKey): ImportKey => ({
  import_supplier,
  external_account_number
})

const make = Effect.gen(function* () {
  const accounts = yield* Accounts
  const processes = yield* ImportProcesses
  const vendor = yield* PaymentVendor
  const history = yield* History
  const examiner = makeExaminer(yield* OperatorSetup, yield* Documents)

  /** A request of a supplier that takes writes. */
  const examine = Effect.fnUntraced(function* <Body>(
    validator: Validator<Body>,
    caller: Caller,
    body: unknown
  ) {
    const code = "request_failed_validation"
    const examined = yield* examiner.examine({ validator, caller, body, payload: body, code })
    yield* requireOngoing(examined.supplier)
    return examined
  })

  const changer =
    (action: AuditAction, caller: Caller) =>
    <A, E>(
      { body, now: at }: Examined<ImportKey>,
      look: Looked,
      decide: (account: AccountView) => Result.Result<Decision<A>, E>
    ) =>
      accounts.change({ key: keyOf(body), look, decide, action, caller, at })

  /** The answer of a change, or that there is no account. */
  const found = <A, E>(changed: Effect.Effect<Option.Option<A>, E>) =>
    Effect.flatMap(
      changed,
      Option.match({ onNone: () => Effect.fail(new NotFound()), onSome: Effect.succeed })
    )

  const write =
    <A>(
      action: AuditAction,
      run: (
        caller: Caller,
        body: unknown,
        change: ReturnType<typeof changer>
      ) => Effect.Effect<A, Failure | Unavailable>
    ) =>
    (caller: Caller, body: unknown) =>
      run(caller, body, changer(action, caller)).pipe(
        Effect.catchTag("DocumentsUnavailable", () => unavailable),
        recordRefusals(history, action, caller, body),
        Effect.catchTag("StorageUnavailable", () => unavailable)
      )

  const createNotes = write("create_notes", (caller, body, change) =>
    Effect.gen(function* () {
      const examined = yield* examine(notesRequest, caller, body)
      const { notes } = examined.body
      const decide = decideNotes(notes, examined.documents, examined.now)
      return yield* found(change(examined, notesToLookAt(notes), decide))
    })
  )

  /** The body, once the parameters are sound as well. */
  const examineBoth = Effect.fnUntraced(function* (
    caller: Caller,
    body: unknown,
    faults: ReadonlyArray<Fault>
  ) {
    const broken = (errors: ReadonlyArray<Fault>) =>
      new ValidationFailed({ code: "request_failed_validation", errors: [...faults, ...errors] })
    const examined = yield* Effect.catchTag(
      examine(transactionsRequest, caller, body),
      "ValidationFailed",
      ({ errors }) => broken(errors)
    )
    return faults.length === 0 ? examined : yield* broken([])
  })

  const createTransactions = (
    caller: Caller,
    body: unknown,
    parameters: Result.Result<TransactionParameters, ReadonlyArray<Fault>>
  ) =>
    write("create_transactions", (_caller, _body, change) =>
      Effect.gen(function* () {
        const faults = Result.isFailure(parameters) ? parameters.failure : []
        const examined = yield* examineBoth(caller, body, faults)
        const { transactions } = examined.body
        const transactionIds = transactions.map((transaction) => transaction.transaction_id)
        const { now } = examined
        const options = { ...Result.getOrThrow(parameters), now, today: dayOf(now) }
        const decide = decideTransactions(transactions, options)
        return yield* found(change(examined, { transactionIds }, decide))
      })
    )(caller, body)

  const createStatements = write("create_historical_statements", (caller, body, change) =>
    Effect.gen(function* () {
      const examined = yield* examine(statementsRequest, caller, body)
      const { statements } = examined.body
      const statementIds = statements.map((statement) => statement.statement_id)
      const decide = decideStatements(statements, examined.documents)
      yield* found(change(examined, { statementIds }, decide))
      return examined.body
    })
  )

  const verify = (instruction: PaymentInstruction) =>
    vendor.verify(instruction).pipe(
      Effect.catchTags({
        VendorRejected: ({ reason }) => new PaymentInstructionRejected({ reason }),
        VendorUnreachable: () => new PaymentVendorUnreachable(),
        VendorUnavailable: () => new PaymentVendorUnavailable()
      })
    )

  /**
   * For a payment instruction, an account that is missing is no 404 but says how far the import is.
   */
  const refuseMissing = Effect.fnUntraced(function* (key: ImportKey) {
    const process = yield* processes.find(key)
    return yield* Option.isNone(process)
      ? new ImportProcessDoesNotExist({ key })
      : new AccountNotFound({ key })
  })

  const createPaymentInstruction = write("create_payment_instruction", (caller, body, change) =>
    Effect.gen(function* () {
      const examined = yield* examine(instructionRequest, caller, body)
      const { reference, type, vendor: code } = examined.body
      const instruction = { vendor: code, reference, type }
      const account = yield* accounts.view(keyOf(examined.body), {})
      if (Option.isNone(account)) return yield* refuseMissing(keyOf(examined.body))
      const details = account.value.instruction === null ? yield* verify(instruction) : null
      const decide = decideInstruction(instruction, details)
      const number = yield* found(change(examined, {}, decide))
      return { kraken_account_number: number, reference }
    })
  )

  return PostImport.of({
    createNotes: Effect.fn("PostImport.createNotes")(createNotes),
    createTransactions: Effect.fn("PostImport.createTransactions")(createTransactions),
    createStatements: Effect.fn("PostImport.createStatements")(createStatements),
    createPaymentInstruction: Effect.fn("PostImport.createPaymentInstruction")(
      createPaymentInstruction
    )
  })
})

/** Needs the storage ports, the document store and the payment vendors. */
export const layer = Layer.effect(PostImport, make)
