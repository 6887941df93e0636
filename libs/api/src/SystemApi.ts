/**
 * The endpoint of the service's limits.
 * Source: docs/contract/limits.md#the-limits-endpoint.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { requires } from "./Authorization.ts"
import { anyProtected, errorBodies } from "./ErrorBody.ts"
import { limits } from "./Limits.ts"
import { operation } from "./Operation.ts"

const limit = (description: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).annotate({
    description
  })

/** The response of the limits endpoint. */
const LimitsRecord = Schema.Struct({
  body_bytes: limit("The largest body, in bytes. Beyond it: `payload_too_large`."),
  nesting_depth: limit(
    "The deepest nesting of a body, whose outermost object is depth 1. Beyond it: `parse_error`."
  ),
  list_elements: limit(
    "The most elements in any one list, and the most members in any one object of free shape. " +
      "Beyond it: `max_length` at the list or object."
  ),
  import_supplier_length: limit("The longest supplier code, in characters."),
  external_account_number_length: limit("The longest external account number, in characters."),
  batch_lines: limit("The most lines of a batch. Beyond it: `batch_limit_exceeded`."),
  batch_bytes: limit("The most bytes of a batch, uncompressed. Beyond it: `batch_limit_exceeded`."),
  batch_line_bytes: limit(
    "The largest line of a batch, in bytes. Beyond it, the line fails with `payload_too_large`."
  ),
  unfinished_batches: limit(
    "The most unfinished batches of an organisation. Beyond it: `batch_limit_exceeded`."
  ),
  unfinished_batch_bytes: limit(
    "The most bytes of all unfinished batches of an organisation. Beyond it: `batch_limit_exceeded`."
  )
}).annotate({ identifier: "Limits", description: "The limits of a request." })

const getLimits = HttpApiEndpoint.get("getLimits", "/v1/data-import/limits/", {
  success: LimitsRecord,
  error: errorBodies(["request_failed_validation", ...anyProtected])
})
  .annotateMerge(
    operation("Limits", "The limits that every request is held to; the same for every caller.", {
      answers: { 200: { limits: { summary: "The limits", value: limits } } }
    })
  )
  .pipe(requires("import:read"))

/** Served beside the queries. */
export const SystemGroup = HttpApiGroup.make("system", { topLevel: true })
  .add(getLimits)
  .annotateMerge(
    OpenApi.annotations({ title: "Service", description: "What holds for the whole service." })
  )
