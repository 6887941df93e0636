/**
 * Turns a refusal, of the domain or of the transport, into a response: status, headers and body. A
 * new failure does not compile without a text. The texts tell the caller what to do and reveal
 * nothing internal.
 * Source: docs/contract/errors.md#codes-and-statuses.
 */
import type { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import type { BatchState } from "@data-import/domain/batches/Batch"
import type { BatchLimits } from "@data-import/domain/batches/BatchLimits"
import type { RequestCode } from "@data-import/domain/codes/Code"
import type {
  BatchLimitExceeded,
  Failure,
  TransactionRefused
} from "@data-import/domain/requests/Failure"
import type { FieldError } from "@data-import/domain/schema/FieldErrors"
import type { DetailedState } from "@data-import/domain/imports/ImportDetails"
import type { AdditionCounts } from "@data-import/domain/additions/AdditionCounts"
import { formatInstant } from "@data-import/domain/schema/Field"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { RequestId } from "@data-import/domain/suppliers/Organisation"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import type { VendorRejected } from "@data-import/domain/payments/PaymentVendor"
import { encodeTransaction, type Transaction } from "@data-import/domain/accounts/Transaction"
import { headerBytes } from "./Limits.ts"
import type { AuthenticationFailed, Refusal } from "./Refusal.ts"
import { type ErrorStatus, statusOf } from "./StatusOfCode.ts"

/**
 * The codes of the envelope. The codes that only the transaction error has also have a status, but
 * are not among them.
 */
export type EnvelopeCode = Exclude<RequestCode, TransactionRefused["code"]>

/** The envelope of every error. Only some refusals have the members after `errors`. */
export interface ProblemBody {
  readonly detail: string
  readonly code: EnvelopeCode
  readonly errors?: ReadonlyArray<FieldError>
  readonly external_account_number?: ExternalAccountNumber
  readonly kraken_account_number?: AccountNumber
  readonly request_id?: RequestId
  readonly line?: number
  readonly total_lines?: number
  readonly lines_received?: number
  readonly state?: BatchState | DetailedState
  readonly closed_at?: string
  readonly revertible_until?: string | null
  readonly additions?: AdditionCounts
  readonly oldest_after?: number
}

/**
 * The only error without the envelope. Nothing of the request is stored.
 * Source: docs/contract/post-import.md#transaction-import-error.
 */
export interface TransactionErrorBody {
  readonly status: "TRANSACTION_IMPORT_ERROR"
  readonly code: TransactionRefused["code"]
  readonly error_detail: string
  readonly parameters?: TransactionRefused["parameters"]
  readonly transaction_data: typeof Transaction.Encoded
}

/**
 * A response to a refused request. Header names are in lower case. The server adds `X-Request-Id`.
 */
export interface ErrorResponse {
  readonly status: ErrorStatus
  readonly headers: Readonly<Record<string, string>>
  readonly body: ProblemBody | TransactionErrorBody
}

type Enveloped = Exclude<Failure, TransactionRefused> | Refusal
type Message = Omit<ProblemBody, "code"> & { readonly headers?: Readonly<Record<string, string>> }

const text = (detail: string) => (): Message => ({ detail })

const pair = (key: ImportKey) =>
  `account "${key.external_account_number}" of supplier "${wireCode(key.import_supplier)}"`

const retryAfter = (seconds: number) => ({
  "retry-after": String(Math.max(1, Math.ceil(seconds)))
})

const tokenWanted = { "www-authenticate": "Token" }

const authenticationFailed = (): Message => ({
  detail: "The token is not valid or has expired; obtain a new one.",
  headers: tokenWanted
})

const headerFaults = {
  scheme: (scheme) =>
    `The Authorization scheme Token is asked for, ${scheme === undefined ? "and the header has none" : `not ${scheme}`}`,
  form: () => "The header has no token, or one with blanks or quotes"
} satisfies Record<
  NonNullable<AuthenticationFailed["header"]>,
  (scheme: string | undefined) => string
>

const counted = (count: number): string => count.toLocaleString("en-US")

const brokenRules = (failure: Extract<Failure, { _tag: "ValidationFailed" }>): Message => {
  const { code, errors, more = false } = failure
  const what = code === "account_failed_validation" ? "The account payload" : "The request"
  const listed = counted(errors.length)
  const rules = errors.length === 1 ? "one rule" : `${listed} rules`
  const broken = more ? `more than ${listed} rules; ${listed} are listed` : `${rules}; see errors`
  return { detail: `${what} breaks ${broken}.`, errors }
}

const rejections: Readonly<Record<string, string>> = {
  unknown: "it does not know the reference",
  inactive: "the instruction is not active",
  wrong_type: "the instruction is of another type",
  credentials: "it does not accept the credentials that the operator has set up",
  refused: "it refuses to tell of it"
} satisfies Record<VendorRejected["reason"], string>

const bytesIn = (bytes: number): string =>
  bytes % 1024 ** 3 === 0 ? `${bytes / 1024 ** 3} GiB` : `${counted(bytes)} bytes`

const batchLimit = {
  batches: ({ unfinishedBatches }) =>
    `The organisation has ${unfinishedBatches} unfinished batches, as many as it may; ` +
    "wait until one has ended, or cancel one.",
  lines: ({ bytes, bytesOfOrganisation, lines }) =>
    `A batch may have ${counted(lines)} lines and ${bytesIn(bytes)}, and ` +
    `all unfinished batches of the organisation ${bytesIn(bytesOfOrganisation)}; the ` +
    "lines that were received stay."
} satisfies Record<BatchLimitExceeded["of"], (limits: BatchLimits) => string>

const messages: {
  readonly [Tag in Enveloped["_tag"]]: (refusal: Extract<Enveloped, { _tag: Tag }>) => Message
} = {
  NotAuthenticated: () => ({
    detail: "The request has no token; send the header `Authorization: Token <ACCESS_TOKEN>`.",
    headers: tokenWanted
  }),
  SignInRequired: () => ({
    detail: "The session has ended, or there is none; sign in at /board/sign-in/.",
    headers: { "www-authenticate": "Cookie" }
  }),
  RoleRefused: text("Your role does not allow this; ask whoever gives out the roles of the board."),
  ForgeryRefused: text(
    "The request did not come from a page of the board with a valid X-CSRF-Token; load it again."
  ),
  AuthenticationFailed: ({ header, scheme }) =>
    header === undefined
      ? authenticationFailed()
      : {
          detail: `${headerFaults[header](scheme)}; send \`Authorization: Token <ACCESS_TOKEN>\`.`,
          headers: tokenWanted
        },
  KeyRevoked: authenticationFailed,
  PermissionDenied: text("The key behind this token may not do this; its scope is too narrow."),
  NotFound: text("Not found. Check the path, the supplier code and the account number."),
  MethodNotAllowed: ({ allow }) => ({
    detail: `This path answers ${allow.join(", ")} only.`,
    headers: { allow: allow.join(", ") }
  }),
  NotAcceptable: text("The answer is JSON, which the Accept header rules out."),
  RequestTimeout: text("The body did not arrive in time; send the request again."),
  PayloadTooLarge: ({ limit }) => ({
    detail: `The body is too large; it may have ${limit} bytes.`
  }),
  HeadersTooLarge: text(`The headers are too large; together they may have ${headerBytes} bytes.`),
  UnsupportedMediaType: ({ takes }) => ({
    detail:
      takes === "json"
        ? "The body must be sent as `Content-Type: application/json`, without Content-Encoding."
        : "Lines must be sent as `Content-Type: application/x-ndjson`, as they are or with " +
          "`Content-Encoding: gzip`."
  }),
  Throttled: ({ retryAfterSeconds }) => ({
    detail: "Too many requests; send this one again after the seconds in Retry-After.",
    headers: retryAfter(retryAfterSeconds)
  }),
  Defect: ({ requestId }) => ({
    detail: "An error in the service. If it persists, give the operator the request id.",
    request_id: requestId
  }),

  NotJson: ({ detail }) => ({ detail }),
  ValidationFailed: brokenRules,
  MigrationNotOngoing: ({ status }) => ({
    detail: `The migration of this supplier is ${status}, not Ongoing; nothing was changed.`
  }),
  ImportProcessDoesNotExist: ({ key }) => ({
    detail: `There is no import of ${pair(key)}; stage the account first.`
  }),
  AlreadyImported: ({ accountNumber, differences = [], key, revertibleUntil }) => ({
    detail: `The import of ${pair(key)} is complete; its account is ${accountNumber}.`,
    external_account_number: key.external_account_number,
    kraken_account_number: accountNumber,
    ...(revertibleUntil !== undefined && {
      revertible_until: revertibleUntil && formatInstant(revertibleUntil)
    }),
    ...(differences.length > 0 && { errors: differences })
  }),
  ImportSkipped: ({ key }) => ({
    detail: `The operator has marked ${pair(key)} to be skipped.`
  }),
  ImportErased: ({ key }) => ({
    detail: `The data of ${pair(key)} was erased; it is not imported again.`
  }),
  ImportInProgress: ({ key }) => ({
    detail: `Another attempt at ${pair(key)} is running right now.`
  }),
  ImportProcessDiffers: ({ key }) => ({
    detail:
      `Another payload is staged for ${pair(key)}; nothing was changed. ` +
      "Stage it without create_only to replace it."
  }),
  ImportNotImported: ({ key, state }) => ({
    detail: `There is no account to revert: the import of ${pair(key)} is ${state}.`,
    state
  }),
  AccountNumberDiffers: ({ accountNumber, key }) => ({
    detail: `The account of ${pair(key)} is ${accountNumber}; nothing was changed.`,
    kraken_account_number: accountNumber
  }),
  RevertWindowClosed: ({ closedAt, key }) => ({
    detail: `The account of ${pair(key)} could be reverted until ${formatInstant(closedAt)}.`,
    closed_at: formatInstant(closedAt)
  }),
  AccountHasAdditions: ({ additions, key }) => ({
    detail:
      `Items were added to the account of ${pair(key)} after its import; nothing was changed. ` +
      "Send with_additions if they may end with it.",
    additions
  }),
  PayloadNotKept: ({ key }) => ({
    detail: `The payload of ${pair(key)} was deleted, so it could not be imported again.`
  }),
  AccountReverted: text(
    "The account that this was about was reverted since; nothing was done. Send a new request."
  ),
  OperationsTeamDoesNotExist: ({ code, name }) => {
    const detail = `There is no operations team "${name}".`
    return { detail, errors: [{ detail, code, attr: "operations_team_name" }] }
  },
  ConcurrencyLimitExceeded: ({ retryAfterSeconds }) => ({
    detail: "As many accounts are being processed as the limit allows; retry when others finish.",
    headers: retryAfter(retryAfterSeconds)
  }),
  CertificateLimitExceeded: ({ retryAfterSeconds }) => ({
    detail:
      "The organisation has as many certificates that are being computed, or the supplier as many " +
      "of the last 24 hours, as the limits allow.",
    headers: retryAfter(retryAfterSeconds)
  }),
  DryRunSuccessful: ({ key }) => ({
    detail: `The import of ${pair(key)} would succeed; it was rolled back due to the dry run.`
  }),
  AccountNotFound: ({ key }) => ({
    detail: `The ${pair(key)} is staged, but not imported; process it first.`
  }),
  ActivePaymentInstructionExists: text(
    "Another payment instruction is active on the account; the operator must end it first."
  ),
  PaymentInstructionRejected: ({ reason }) => ({
    detail: `The vendor rejects the payment instruction: ${rejections[reason] ?? "it says no"}.`
  }),
  PaymentVendorUnreachable: text(
    "The payment vendor cannot be reached, and a retry will not help; ask the operator."
  ),
  PaymentVendorUnavailable: text(
    "The payment vendor cannot be reached right now; send the same request again."
  ),
  IdempotencyKeyInUse: ({ retryAfterSeconds }) => ({
    detail:
      "A request with this Idempotency-Key is running; send this one again after the seconds in " +
      "Retry-After.",
    headers: retryAfter(retryAfterSeconds)
  }),
  IdempotencyKeyReused: text(
    "The Idempotency-Key came with another path, query or body before; nothing was changed."
  ),
  BatchLineDiffers: ({ line }) => ({
    detail: `Line ${line} was received before with other bytes; go on at the line after the last.`,
    line
  }),
  BatchLineGap: ({ received }) => ({
    detail: `The batch has ${received} lines; send line ${received + 1} next.`,
    lines_received: received
  }),
  BatchLineCountMismatch: ({ received, total }) => ({
    detail: `The batch has ${received} lines, and total_lines is ${total}; it was not started.`,
    total_lines: total,
    lines_received: received
  }),
  BatchUploadSuperseded: text("A newer upload to this batch has begun; this one has ended."),
  BatchLimitExceeded: ({ limits, of }) => ({ detail: batchLimit[of](limits) }),
  StorageLimitExceeded: ({ limits }) => ({
    detail:
      `The batches of the organisation may store ${bytesIn(limits.storedBytes)}, and lines, ` +
      "results and problems count until the lines are deleted, some time after the end of their " +
      "batch; the lines that were received stay."
  }),
  BatchStateConflict: ({ isOvertaken = false, state }) => ({
    detail: isOvertaken
      ? "Since the batch was created, the account of one of its lines was imported or staged anew, " +
        "or the lines that it is made of were deleted; cancel it and create it again."
      : `The batch is ${state}, which does not allow this; nothing was changed.`,
    state
  }),
  BatchLinesDeleted: text("The lines of the batch were deleted; send them in a new batch."),
  TestKeyRequired: text("This takes a test key, and the key behind this token is a live one."),
  SandboxInUse: text("Batches have not ended; cancel them or wait, and send the request again."),
  EventsPruned: ({ oldestAfter }) => ({
    detail: `Events after this position were deleted; those after ${oldestAfter} are kept.`,
    oldest_after: oldestAfter
  }),
  ServiceUnavailable: ({ retryAfterSeconds }) => ({
    detail:
      "The service cannot answer right now; send the request again after Retry-After seconds.",
    headers: retryAfter(retryAfterSeconds)
  })
}

const transactionProblem = ({
  code,
  detail,
  parameters,
  transaction
}: TransactionRefused): ErrorResponse => ({
  status: 400,
  headers: {},
  body: {
    status: "TRANSACTION_IMPORT_ERROR",
    code,
    error_detail: detail,
    ...(parameters && { parameters }),
    transaction_data: encodeTransaction(transaction)
  }
})

/** The response to a refusal with the envelope. */
export const envelopeOf = (refusal: Enveloped): ErrorResponse & { readonly body: ProblemBody } => {
  const messageOf = messages[refusal._tag] as (refusal: Enveloped) => Message
  const { detail, headers = {}, ...members } = messageOf(refusal)
  const { code } = refusal
  return { status: statusOf[code], headers, body: { detail, code, ...members } }
}

/** The response to any refusal. It contains only our own texts and what the caller sent. */
export const errorResponseOf = (refusal: Failure | Refusal): ErrorResponse =>
  refusal._tag === "TransactionRefused" ? transactionProblem(refusal) : envelopeOf(refusal)
