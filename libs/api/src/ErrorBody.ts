/**
 * The bodies of errors as schemas, generated from the registry of codes: one schema for each
 * status, with the codes that the operation can answer. Services do not encode with them but use
 * `ErrorResponse.ts`; tests compare the two.
 */
import { Array as Lists, Schema } from "effect"
import {
  type Code,
  type FieldCode,
  registry,
  type RequestCode
} from "@data-import/domain/codes/Code"
import type { ErrorParameter } from "@data-import/domain/codes/CodeEntry"
import { maxErrors } from "@data-import/domain/schema/FieldErrors"
import { BatchState } from "@data-import/domain/batches/Batch"
import { DetailedState } from "@data-import/domain/imports/ImportDetails"
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import { InstantText } from "./DecimalSchema.ts"
import { type ErrorStatus, statusOf } from "./StatusOfCode.ts"

const codes = Object.keys(registry) as Array<Code>

/** The codes of error objects, in the order of the registry. */
const fieldCodes = codes.filter((code): code is FieldCode => registry[code].kind !== "request")

/** The top-level codes, in the order of the registry. */
export const requestCodes = codes.filter((code): code is RequestCode => code in statusOf)

const entries = (codes: ReadonlyArray<Code>) =>
  Object.fromEntries(
    codes.map((code) => {
      const { example, meaning, parameters, remedy } = registry[code]
      const described = { meaning, example, remedy }
      return [code, parameters.length === 0 ? described : { ...described, parameters }]
    })
  )

/** The code of one error object. */
const FieldErrorCode = Schema.Literals(fieldCodes).annotate({
  identifier: "FieldErrorCode",
  description: "Which rule is broken. For machines, and stable for ever; `x-codes` explains each.",
  "x-codes": entries(fieldCodes)
})

/** The top-level code of an error. */
export const ErrorCode = Schema.Literals(requestCodes).annotate({
  identifier: "ErrorCode",
  description:
    "Why the request is refused. For machines, and stable for ever; `x-codes` explains each.",
  "x-codes": entries(requestCodes)
})

const detail = Schema.String.annotate({
  description: "For humans. The wording may change and must not be parsed."
})

const NumberOrText = Schema.Union([Schema.Finite, Schema.String])

const parameter = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

const parameterFields = {
  limit: parameter(
    NumberOrText,
    "The bound that was exceeded: a count, a number, a day or an instant."
  ),
  actual: parameter(NumberOrText, "What was sent, or counted."),
  expected: parameter(NumberOrText, "What it should have been, or of which type."),
  difference: parameter(Schema.String, "`actual` less `expected`."),
  nearest: parameter(Schema.String, "The nearest documented name."),
  allowed: parameter(Schema.Array(Schema.String), "The allowed values."),
  reason: parameter(Schema.String, "Which part of the rule is broken, in one word."),
  ids: parameter(
    Schema.Array(NumberOrText),
    "The first elements that break the rule: their ids, or indexes where they have none."
  ),
  business_day: parameter(
    Schema.String,
    "The supplier's day by which the rule was applied; on another day the result may be another."
  )
} satisfies { readonly [Name in ErrorParameter]: Schema.Top }

/** The parameters of an error. */
export const Parameters = Schema.Struct(parameterFields).annotate({
  identifier: "ErrorParameters",
  description:
    "What the code is about, so that `detail` need not be parsed. Decimals are exact and written " +
    "as text. `x-codes` names the parameters that an error of each code may have."
})

export const FieldError = Schema.Struct({
  detail,
  code: FieldErrorCode,
  attr: Schema.String.annotate({
    description:
      "Dot path to the offending input: field names and zero-based list indexes. " +
      "A rule about the whole payload is reported at `non_field_errors`.",
    examples: ["customers.0.landline"]
  }),
  parameters: Schema.optionalKey(Parameters)
}).annotate({ identifier: "FieldError", description: "One broken rule." })

const errors = Schema.Array(FieldError).annotate({
  description:
    "Every broken rule in payload order, or the first that were found where there are more.",
  minItems: 1,
  maxItems: maxErrors
})

/** A number of lines, or of one line. */
export const lineCount = (description: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: batchLimits.lines })).annotate({
    description
  })

const linesReceived = lineCount(
  "How many lines are committed; the next one is the line after them."
)

export const totalLines = Schema.Finite.annotate({ description: "The total_lines as sent." })

const count = (of: string) =>
  Schema.Int.annotate({ description: `How many ${of} were added after the import.` })

/** What was added to an account. */
export const AdditionsBody = Schema.Struct({
  transactions: count("transactions"),
  notes: count("notes"),
  statements: count("statements"),
  payment_instructions: count("payment instructions")
}).annotate({ identifier: "Additions", description: "What was added to the account." })

/** The members of a body besides `detail` and `code`, by code. */
export const members = {
  account_failed_validation: { errors },
  request_failed_validation: { errors },
  operations_team_name_does_not_exist: { errors },
  account_import_process_already_imported: {
    external_account_number: Schema.String.annotate({ description: "The number as sent." }),
    kraken_account_number: Schema.String.annotate({ description: "The account that exists." }),
    revertible_until: Schema.optionalKey(
      Schema.NullOr(InstantText).annotate({
        description: "Of stage: until when the account can be reverted; null if that is over."
      })
    ),
    errors: Schema.optionalKey(errors)
  },
  account_import_process_not_imported: {
    state: DetailedState.annotate({ description: "The state that the import is in." })
  },
  account_number_differs: {
    kraken_account_number: Schema.String.annotate({ description: "The present account." })
  },
  revert_window_closed: {
    closed_at: InstantText.annotate({ description: "Since when it can no longer be reverted." })
  },
  account_has_additions: { additions: AdditionsBody },
  batch_line_differs: { line: lineCount("The line that was sent with other bytes.") },
  batch_line_gap: { lines_received: linesReceived },
  batch_line_count_mismatch: {
    total_lines: totalLines,
    lines_received: linesReceived
  },
  batch_state_conflict: {
    state: BatchState.annotate({ description: "The state that the batch is in." })
  },
  events_pruned: {
    oldest_after: Schema.Int.annotate({
      description: "The lowest `after` that is answered: every event after it is kept."
    })
  },
  error: {
    request_id: Schema.String.annotate({ description: "What to give the operator." })
  }
} satisfies { readonly [Key in RequestCode]?: Schema.Struct.Fields }

const membersOf = (code: RequestCode): Schema.Struct.Fields =>
  (members as { readonly [Key in RequestCode]?: Schema.Struct.Fields })[code] ?? {}

/** The members of a body with this code besides `detail` and `code`. */
export type ErrorMembers<Code extends RequestCode> = Code extends keyof typeof members
  ? Schema.Struct.Type<(typeof members)[Code]>
  : {}

/** The body of an error with one of these codes. */
export type ErrorBody<Code extends RequestCode> = Code extends RequestCode
  ? { readonly detail: string; readonly code: Code } & ErrorMembers<Code>
  : never

const reasons: Record<ErrorStatus, string> = {
  400: "The request is refused, and nothing was changed.",
  401: "No token, or not a valid one.",
  403: "The token's key may not do this.",
  404: "Nothing is here, or nothing that the caller may see.",
  405: "The path does not have this method.",
  406: "The answer is JSON, which the Accept header rules out.",
  408: "The body did not arrive in time.",
  409: "The request conflicts with another one, with staged data, or with the state of a batch.",
  410: "What the request needs was deleted.",
  413: "The body is too large.",
  415: "The body is not announced as plain JSON.",
  422: "The Idempotency-Key belongs to another request.",
  431: "The request line and the headers are too large.",
  429: "Too much at once; to be sent again after Retry-After seconds.",
  500: "An unexpected error; to be sent again as it is.",
  503: "The service cannot answer right now; to be sent again after Retry-After seconds."
}

/** The meaning of an error of this status and of each of its codes, in Markdown. */
export const describeError = (status: ErrorStatus, codes: ReadonlyArray<Code>): string =>
  [reasons[status], "", ...codes.map((code) => `- \`${code}\`: ${registry[code].meaning}`)].join(
    "\n"
  )

/** The envelope with these codes. Codes with the same members share a schema. */
const bodyFor = (status: ErrorStatus, codes: ReadonlyArray<RequestCode>) => {
  const groups = Lists.groupBy(codes, (code) => Object.keys(membersOf(code)).join())
  const bodies = Object.values(groups).map((group) =>
    Schema.Struct({
      detail,
      code: Schema.Literals(group),
      ...Object.assign({}, ...group.map(membersOf))
    })
  )
  return Schema.Union(bodies).annotate({ httpApiStatus: status })
}

/** One schema for each status that these codes have, in the order of the statuses. */
export const errorBodies = <const Code extends RequestCode>(
  codes: ReadonlyArray<Code>
): ReadonlyArray<Schema.Codec<ErrorBody<Code>>> => {
  const statuses = [...new Set(codes.map((code) => statusOf[code]))].sort((a, b) => a - b)
  return statuses.map(
    (status) =>
      bodyFor(
        status,
        codes.filter((code) => statusOf[code] === status)
      ) as unknown as Schema.Codec<ErrorBody<Code>>
  )
}

/** The codes that every operation can answer. */
export const anywhere = [
  "parse_error",
  "not_acceptable",
  "throttled",
  "headers_too_large",
  "error",
  "service_unavailable"
] as const

/** The codes that every operation with a token can answer. */
export const anyProtected = [
  "not_authenticated",
  "authentication_failed",
  "permission_denied",
  ...anywhere
] as const

/** The codes that every operation with an Idempotency-Key can answer. */
export const anyKeyed = ["idempotency_key_in_use", "idempotency_key_reused"] as const

/** The codes that every operation with a body can answer. */
export const anyBody = ["request_timeout", "payload_too_large", "unsupported_media_type"] as const
