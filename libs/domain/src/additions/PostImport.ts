/**
 * Adds data to an imported account: notes, transactions, historical statements, a payment
 * instruction. A request is stored completely or not at all. Repeating it changes nothing and
 * returns the same response.
 * Source: docs/contract/post-import.md#post-import-requests.
 */
import { Context, Effect, Layer, Option, Result } from "effect"
import { Accounts } from "../accounts/Accounts.ts"
import type { DocumentsUnavailable } from "../documents/Documents.ts"
import { type AuditAction, AuditLog } from "../audit/AuditLog.ts"
import type { ReservationLost } from "../idempotency/IdempotencyKeys.ts"
import { ImportProcesses } from "../imports/ImportProcesses.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { PaymentVendor } from "../payments/PaymentVendor.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { AccountNumber } from "../accounts/Account.ts"
import type { AccountView, Decision, Lookup } from "../accounts/AccountChange.ts"
import { recordRefusals } from "../audit/Audit.ts"
import * as DocumentLookup from "../documents/DocumentLookup.ts"
import {
  type ValidRequest,
  type RequestValidator,
  makeRequestValidator,
  requireOngoing
} from "../requests/RequestValidation.ts"
import {
  AccountNotFound,
  type Failure,
  ImportErased,
  ImportProcessDoesNotExist,
  keyInUse,
  NotFound,
  PaymentInstructionRejected,
  PaymentVendorUnavailable,
  PaymentVendorUnreachable,
  unavailable
} from "../requests/Failure.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import type { OnDifference } from "../schema/OnDifference.ts"
import { type ResponseRecorder, recorderFrom } from "../idempotency/IdempotencyKey.ts"
import type { ImportKey } from "../imports/ImportProcess.ts"
import { decideNotes, type NoteResult } from "./NoteImport.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { modeOfSupplier, type Supplier } from "../suppliers/Supplier.ts"
import type { PaymentInstruction } from "../accounts/PaymentInstruction.ts"
import { decideInstruction } from "./InstructionImport.ts"
import {
  instructionRequest,
  notesRequest,
  type StatementsRequest,
  statementsRequest,
  transactionsRequest
} from "./PostImportValidation.ts"
import { decideStatements } from "./StatementImport.ts"
import {
  decideTransactions,
  type TransactionResult,
  transactionLookup
} from "./TransactionImport.ts"
import type { Validator } from "../schema/Validator.ts"
import { waiting } from "../requests/WorkBudget.ts"
import { traced } from "../support/Traced.ts"

/** The parameters of the notes import. */
export interface NoteParameters {
  readonly onDifference: OnDifference
}

/** The parameters of the transactions import. */
export interface TransactionParameters extends NoteParameters {
  readonly checkPreviouslyAdded: boolean
  readonly forceAddToCurrentStatement: boolean
}

/** `isNew` if any of the statements was not on the account yet. */
export interface StatementsCreated {
  readonly request: StatementsRequest
  readonly isNew: boolean
}

/** `isNew` if the instruction was not on the account yet. */
export interface InstructionCreated {
  readonly kraken_account_number: AccountNumber
  readonly reference: string
  readonly isNew: boolean
}

export class PostImport extends Context.Service<
  PostImport,
  {
    /**
     * One result for each note, in the order of the request. Errors of the parameters, here and
     * below, are reported before those of the body.
     */
    readonly createNotes: (
      caller: Caller,
      body: unknown,
      parameters: Result.Result<NoteParameters, ReadonlyArray<FieldError>>,
      recorder?: ResponseRecorder<ReadonlyArray<NoteResult>> | null
    ) => Effect.Effect<ReadonlyArray<NoteResult>, Failure>
    /** One result for each transaction, in the order of the request. All are added or none. */
    readonly createTransactions: (
      caller: Caller,
      body: unknown,
      parameters: Result.Result<TransactionParameters, ReadonlyArray<FieldError>>,
      recorder?: ResponseRecorder<ReadonlyArray<TransactionResult>> | null
    ) => Effect.Effect<ReadonlyArray<TransactionResult>, Failure>
    readonly createStatements: (
      caller: Caller,
      body: unknown,
      recorder?: ResponseRecorder<StatementsCreated> | null,
      parameterErrors?: ReadonlyArray<FieldError>
    ) => Effect.Effect<StatementsCreated, Failure>
    /**
     * Asks the vendor before anything is stored, unless the instruction is on the account already.
     */
    readonly createPaymentInstruction: (
      caller: Caller,
      body: unknown,
      recorder?: ResponseRecorder<InstructionCreated> | null,
      parameterErrors?: ReadonlyArray<FieldError>
    ) => Effect.Effect<InstructionCreated, Failure>
  }
>()("@data-import/domain/PostImport") {}

type Unavailable = StorageUnavailable | DocumentsUnavailable

type Located = Pick<ImportKey, "external_account_number">

const keyOf = ({ body, supplier }: ValidRequest<Located>): ImportKey => ({
  import_supplier: supplier.code,
  external_account_number: body.external_account_number
})

interface Dependencies {
  readonly accounts: Accounts["Service"]
  readonly processes: ImportProcesses["Service"]
  readonly vendor: PaymentVendor["Service"]
  readonly auditLog: AuditLog["Service"]
  readonly configuration: Configuration["Service"]
  readonly requestValidator: RequestValidator
}

/**
 * A request: the action, the caller, the body as it was sent, and how to record the response (null
 * without an idempotency key).
 */
interface Write<A> {
  readonly action: AuditAction
  readonly caller: Caller
  readonly body: unknown
  readonly recorder: ResponseRecorder<A> | null
  readonly parameterErrors: ReadonlyArray<FieldError>
}

/** Validates a request whose supplier accepts writes. */
const validateRequest = Effect.fnUntraced(function* <Body>(
  { requestValidator }: Dependencies,
  { body, caller, parameterErrors }: Write<never>,
  validator: Validator<Body>
) {
  const code = "request_failed_validation"
  const valid = yield* requestValidator.validate({
    validator,
    caller,
    body,
    payload: body,
    code,
    parameterErrors
  })
  yield* requireOngoing(valid.supplier)
  return valid
})

/** An erased account is not reported as missing: every addition to it is refused. */
const refuseErased = Effect.fnUntraced(function* ({ processes }: Dependencies, key: ImportKey) {
  const process = yield* processes.find(key)
  if (Option.isSome(process) && process.value.erased) return yield* new ImportErased({ key })
  return process
})

/** Changes the imported account that the request names. */
const change = Effect.fnUntraced(function* <A, E>(
  deps: Dependencies,
  { action, caller, recorder }: Write<A>,
  valid: ValidRequest<Located>,
  lookup: Lookup,
  decide: (account: AccountView) => Result.Result<Decision<A>, E>
) {
  const key = keyOf(valid)
  const changed = yield* deps.accounts.change({
    key,
    lookup,
    decide,
    action,
    caller,
    at: valid.now,
    recorder
  })
  if (Option.isSome(changed)) return changed.value
  yield* refuseErased(deps, key)
  return yield* new NotFound()
})

const createNotes = Effect.fnUntraced(function* (
  deps: Dependencies,
  write: Write<ReadonlyArray<NoteResult>>,
  parameters: Result.Result<NoteParameters, ReadonlyArray<FieldError>>
) {
  const valid = yield* validateRequest(deps, write, notesRequest)
  const { notes } = valid.body
  const options = { ...Result.getOrThrow(parameters), now: valid.now }
  const decide = decideNotes(notes, valid.documents, options)
  return yield* change(deps, write, valid, { notes }, decide)
})

const createTransactions = Effect.fnUntraced(function* (
  deps: Dependencies,
  write: Write<ReadonlyArray<TransactionResult>>,
  parameters: Result.Result<TransactionParameters, ReadonlyArray<FieldError>>
) {
  const valid = yield* validateRequest(deps, write, transactionsRequest)
  const { transactions } = valid.body
  const { now, today } = valid
  const options = { ...Result.getOrThrow(parameters), now, today }
  const decide = decideTransactions(transactions, options)
  const lookup = transactionLookup(transactions, options)
  return yield* change(deps, write, valid, lookup, decide)
})

const createStatements = Effect.fnUntraced(function* (
  deps: Dependencies,
  write: Write<StatementsCreated>
) {
  const valid = yield* validateRequest(deps, write, statementsRequest)
  const { statements } = valid.body
  const statementIds = statements.map((statement) => statement.statement_id)
  const decide = decideStatements(statements, valid.documents)
  const created = (added: { readonly isNew: boolean }) => ({ request: valid.body, ...added })
  const recorder = recorderFrom(write.recorder, created)
  return created(yield* change(deps, { ...write, recorder }, valid, { statementIds }, decide))
})

const verify = (
  { vendor }: Dependencies,
  instruction: PaymentInstruction,
  { code, organisation }: Supplier
) =>
  waiting(vendor.verify(instruction, organisation, modeOfSupplier(code))).pipe(
    Effect.catchTags({
      VendorRejected: ({ reason }) => new PaymentInstructionRejected({ reason }),
      VendorUnreachable: () => new PaymentVendorUnreachable(),
      VendorUnavailable: () => new PaymentVendorUnavailable()
    })
  )

/**
 * Refuses a payment instruction for a missing account: not with a 404, but with the state of the
 * import.
 */
const refuseMissing = Effect.fnUntraced(function* (deps: Dependencies, key: ImportKey) {
  const process = yield* refuseErased(deps, key)
  return yield* Option.isNone(process)
    ? new ImportProcessDoesNotExist({ key })
    : new AccountNotFound({ key })
})

const createPaymentInstruction = Effect.fnUntraced(function* (
  deps: Dependencies,
  write: Write<InstructionCreated>
) {
  const valid = yield* validateRequest(deps, write, instructionRequest)
  const { reference, type, vendor } = valid.body
  const instruction = { vendor, reference, type }
  const account = yield* deps.accounts.view(keyOf(valid), {})
  if (Option.isNone(account)) return yield* refuseMissing(deps, keyOf(valid))
  const details =
    account.value.instruction === null ? yield* verify(deps, instruction, valid.supplier) : null
  const decide = decideInstruction(account.value.number, instruction, details)
  const createdOn = ({ isNew, number }: { number: AccountNumber; isNew: boolean }) => ({
    kraken_account_number: number,
    reference,
    isNew
  })
  const recorder = recorderFrom(write.recorder, createdOn)
  return createdOn(yield* change(deps, { ...write, recorder }, valid, {}, decide))
})

const recorded = <A>(
  deps: Dependencies,
  { action, body, caller }: Write<never>,
  written: Effect.Effect<A, Failure | Unavailable | ReservationLost>
): Effect.Effect<A, Failure> =>
  written.pipe(
    Effect.catchTags({
      DocumentsUnavailable: () => unavailable,
      ReservationLost: () => keyInUse
    }),
    recordRefusals(deps, action, caller, body),
    Effect.catchTag("StorageUnavailable", () => unavailable)
  )

const errorsOf = (parameters: Result.Result<unknown, ReadonlyArray<FieldError>>) =>
  Result.isFailure(parameters) ? parameters.failure : []

const make = Effect.gen(function* () {
  const configuration = yield* Configuration
  const deps: Dependencies = {
    accounts: yield* Accounts,
    processes: yield* ImportProcesses,
    vendor: yield* PaymentVendor,
    auditLog: yield* AuditLog,
    configuration,
    requestValidator: makeRequestValidator(configuration, yield* DocumentLookup.DocumentLookup)
  }

  return PostImport.of({
    createNotes: traced("PostImport.createNotes")((caller, body, parameters, recorder = null) => {
      const parameterErrors = errorsOf(parameters)
      const write = { action: "create_notes", caller, body, recorder, parameterErrors } as const
      return recorded(deps, write, createNotes(deps, write, parameters))
    }),
    createTransactions: traced("PostImport.createTransactions")(
      (caller, body, parameters, recorder = null) => {
        const parameterErrors = errorsOf(parameters)
        const write = {
          action: "create_transactions",
          caller,
          body,
          recorder,
          parameterErrors
        } as const
        return recorded(deps, write, createTransactions(deps, write, parameters))
      }
    ),
    createStatements: traced("PostImport.createStatements")(
      (caller, body, recorder = null, parameterErrors = []) => {
        const action = "create_historical_statements"
        const write = { action, caller, body, recorder, parameterErrors } as const
        return recorded(deps, write, createStatements(deps, write))
      }
    ),
    createPaymentInstruction: traced("PostImport.createPaymentInstruction")(
      (caller, body, recorder = null, parameterErrors = []) => {
        const write = {
          action: "create_payment_instruction",
          caller,
          body,
          recorder,
          parameterErrors
        } as const
        return recorded(deps, write, createPaymentInstruction(deps, write))
      }
    )
  })
})

/** Needs the storage ports, the document store and the payment vendors. */
export const layer = Layer.effect(PostImport, make).pipe(Layer.provide(DocumentLookup.layer))
