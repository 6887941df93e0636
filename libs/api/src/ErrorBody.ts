/**
 * The bodies of errors as schemas, made from the registry of codes: one schema a status, whose `code` is
 * narrowed to the codes that the operation can answer with.
 */
import { Schema } from "effect"
import { type FieldCode, registry, type RequestCode } from "@data-import/domain/Code"
import { type ErrorStatus, statusOf } from "./Problem.ts"

const codes = Object.keys(registry) as Array<keyof typeof registry>

/** The codes of error objects, in the order of the registry. */
export const fieldCodes = codes.filter(
  (code): code is FieldCode => registry[code].kind !== "request"
)

/** The top-level codes, in the order of the registry. */
export const requestCodes = codes.filter(
  (code): code is RequestCode => registry[code].kind !== "field"
)

/** One broken rule. */
export const FieldError = Schema.Struct({
  detail: Schema.String.annotate({ description: "For humans; the wording may change." }),
  code: Schema.Literals(fieldCodes).annotate({ description: "For machines; stable for ever." }),
  attr: Schema.String.annotate({
    description:
      "Dot path to the offending input, list indexes zero-based; non_field_errors for the whole payload.",
    examples: ["customers.0.landline"]
  })
}).annotate({ identifier: "FieldError", description: "One broken rule." })

const members = {
  detail: Schema.String.annotate({ description: "For humans; the wording may change." }),
  errors: Schema.optionalKey(
    Schema.Array(FieldError).annotate({ description: "Every broken rule, in payload order." })
  )
}

const extras = {
  account_import_process_already_imported: {
    external_account_number: Schema.optionalKey(Schema.String),
    kraken_account_number: Schema.optionalKey(Schema.String)
  },
  error: { request_id: Schema.optionalKey(Schema.String) }
}

const describe = (code: RequestCode) =>
  `\`${code}\`: ${registry[code].meaning} ${registry[code].remedy}`

const bodyFor = (status: ErrorStatus, codes: ReadonlyArray<RequestCode>) => {
  const own = codes.flatMap((code) => (code in extras ? [extras[code as keyof typeof extras]] : []))
  const code = Schema.Literals(codes).annotate({ description: codes.map(describe).join("\n\n") })
  return Schema.Struct({
    detail: members.detail,
    code,
    errors: members.errors,
    ...Object.assign({}, ...own)
  }).annotate({ httpApiStatus: status })
}

/** One schema for each status that these codes have, each naming its codes. */
export const refusalSchemas = (codes: ReadonlyArray<RequestCode>) => {
  const statuses = [...new Set(codes.map((code) => statusOf[code]))].sort((a, b) => a - b)
  return statuses.map((status) =>
    bodyFor(
      status,
      codes.filter((code) => statusOf[code] === status)
    )
  )
}
