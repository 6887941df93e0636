/**
 * A refusal of every kind, from which `envelopeOf` generates the examples of errors in the
 * document. A new failure does not compile here without an example.
 */
import { DateTime } from "effect"
import { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import {
  AccountHasAdditions,
  AccountNotFound,
  AccountNumberDiffers,
  AccountReverted,
  ActivePaymentInstructionExists,
  AlreadyImported,
  BatchLimitExceeded,
  BatchLineCountMismatch,
  BatchLineDiffers,
  BatchLineGap,
  BatchLinesDeleted,
  BatchStateConflict,
  BatchUploadSuperseded,
  CertificateLimitExceeded,
  ConcurrencyLimitExceeded,
  DryRunSuccessful,
  EventsPruned,
  type Failure,
  IdempotencyKeyInUse,
  IdempotencyKeyReused,
  ImportInProgress,
  ImportNotImported,
  ImportProcessDiffers,
  ImportProcessDoesNotExist,
  ImportErased,
  ImportSkipped,
  KeyRevoked,
  MigrationNotOngoing,
  NotFound,
  OperationsTeamDoesNotExist,
  PayloadNotKept,
  PaymentInstructionRejected,
  PaymentVendorUnavailable,
  PaymentVendorUnreachable,
  PermissionDenied,
  RevertWindowClosed,
  SandboxInUse,
  TestKeyRequired,
  StorageLimitExceeded,
  ServiceUnavailable,
  type TransactionRefused,
  ValidationFailed
} from "@data-import/domain/requests/Failure"
import { NotJson } from "@data-import/domain/schema/Json"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { sampleKey, sampleNumber } from "./Examples.ts"
import { bodyBytes } from "./Limits.ts"
import { type EnvelopeCode, envelopeOf, type ProblemBody } from "./ErrorResponse.ts"
import {
  AuthenticationFailed,
  Defect,
  ForgeryRefused,
  HeadersTooLarge,
  RoleRefused,
  MethodNotAllowed,
  NotAcceptable,
  NotAuthenticated,
  PayloadTooLarge,
  type Refusal,
  RequestTimeout,
  SignInRequired,
  Throttled,
  UnsupportedMediaType
} from "./Refusal.ts"

type Enveloped = Exclude<Failure, TransactionRefused> | Refusal

const sums = {
  imported: "0",
  added: "0",
  ledgers: [],
  transactions: [],
  statements: [0, "0"]
} as const

const key = {
  import_supplier: SupplierCode.make(sampleKey.import_supplier),
  external_account_number: ExternalAccountNumber.make(sampleKey.external_account_number)
}

const errors = [
  {
    attr: "customers.0.landline",
    code: "invalid_phone_number",
    detail:
      "Must be a phone number in international format, like +4512345678: " +
      "it needs a leading + and the country's calling code.",
    parameters: { reason: "no_plus" }
  }
] as const

export const refusals: {
  readonly [Tag in Enveloped["_tag"]]: Extract<Enveloped, { readonly _tag: Tag }>
} = {
  SignInRequired: new SignInRequired(),
  RoleRefused: new RoleRefused(),
  ForgeryRefused: new ForgeryRefused(),
  NotAuthenticated: new NotAuthenticated(),
  AuthenticationFailed: new AuthenticationFailed({}),
  KeyRevoked: new KeyRevoked(),
  PermissionDenied: new PermissionDenied(),
  NotFound: new NotFound(),
  MethodNotAllowed: new MethodNotAllowed({ allow: ["POST"] }),
  NotAcceptable: new NotAcceptable(),
  RequestTimeout: new RequestTimeout(),
  PayloadTooLarge: new PayloadTooLarge({ limit: bodyBytes }),
  HeadersTooLarge: new HeadersTooLarge(),
  UnsupportedMediaType: new UnsupportedMediaType({ takes: "json" }),
  Throttled: new Throttled({ retryAfterSeconds: 5 }),
  Defect: new Defect({ requestId: RequestId.make("0f9c1d52-wave-3") }),
  NotJson: new NotJson({ detail: "Not a JSON document, at position 17." }),
  ValidationFailed: new ValidationFailed({ code: "account_failed_validation", errors }),
  MigrationNotOngoing: new MigrationNotOngoing({ status: "Paused" }),
  ImportProcessDoesNotExist: new ImportProcessDoesNotExist({ key }),
  AlreadyImported: new AlreadyImported({ key, accountNumber: AccountNumber.make(sampleNumber) }),
  ImportSkipped: new ImportSkipped({ key }),
  ImportNotImported: new ImportNotImported({ key, state: "PENDING" }),
  AccountNumberDiffers: new AccountNumberDiffers({
    key,
    accountNumber: AccountNumber.make(sampleNumber)
  }),
  RevertWindowClosed: new RevertWindowClosed({
    key,
    closedAt: DateTime.makeUnsafe("2025-05-01T20:55:02Z")
  }),
  AccountHasAdditions: new AccountHasAdditions({
    key,
    additions: { transactions: 2, notes: 1, statements: 0, payment_instructions: 0 }
  }),
  PayloadNotKept: new PayloadNotKept({ key }),
  AccountReverted: new AccountReverted(),
  ImportErased: new ImportErased({ key }),
  ImportInProgress: new ImportInProgress({ key }),
  ImportProcessDiffers: new ImportProcessDiffers({ key }),
  OperationsTeamDoesNotExist: new OperationsTeamDoesNotExist({ name: "Nobody" }),
  CertificateLimitExceeded: new CertificateLimitExceeded({ retryAfterSeconds: 60 }),
  ConcurrencyLimitExceeded: new ConcurrencyLimitExceeded({ retryAfterSeconds: 5 }),
  DryRunSuccessful: new DryRunSuccessful({ key, sums }),
  AccountNotFound: new AccountNotFound({ key }),
  ActivePaymentInstructionExists: new ActivePaymentInstructionExists(),
  PaymentInstructionRejected: new PaymentInstructionRejected({
    reason: "inactive"
  }),
  PaymentVendorUnreachable: new PaymentVendorUnreachable(),
  PaymentVendorUnavailable: new PaymentVendorUnavailable(),
  IdempotencyKeyInUse: new IdempotencyKeyInUse({ retryAfterSeconds: 1 }),
  IdempotencyKeyReused: new IdempotencyKeyReused(),
  BatchLineDiffers: new BatchLineDiffers({ line: 401 }),
  BatchLineGap: new BatchLineGap({ received: 400 }),
  BatchLineCountMismatch: new BatchLineCountMismatch({ total: 100_000, received: 99_000 }),
  BatchUploadSuperseded: new BatchUploadSuperseded(),
  BatchLimitExceeded: new BatchLimitExceeded({ of: "batches", limits: batchLimits }),
  StorageLimitExceeded: new StorageLimitExceeded({ limits: batchLimits }),
  BatchStateConflict: new BatchStateConflict({ state: "RUNNING" }),
  BatchLinesDeleted: new BatchLinesDeleted(),
  TestKeyRequired: new TestKeyRequired(),
  SandboxInUse: new SandboxInUse(),
  EventsPruned: new EventsPruned({ oldestAfter: 48_211 }),
  ServiceUnavailable: new ServiceUnavailable({ retryAfterSeconds: 5 })
}

const otherErrors = new ValidationFailed({
  code: "request_failed_validation",
  errors: [
    {
      attr: "notes.0",
      code: "note_body_or_document_path_not_found",
      detail: "A note needs a body or document paths."
    }
  ]
})

const bodies = new Map<EnvelopeCode, ProblemBody>(
  [...Object.values<Enveloped>(refusals), otherErrors].map((refusal) => {
    const { body } = envelopeOf(refusal)
    return [body.code, body]
  })
)

/** The body of an error for each code, in the order of the refusals. */
export const errorExamples: ReadonlyArray<ProblemBody> = [...bodies.values()]
