/**
 * Batches: many lines at once, each with the meaning of the single endpoint. The handlers read and
 * validate the bodies. An upload and the results are streams.
 * Source: docs/contract/batches.md#resources.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import { LineOutcome } from "@data-import/domain/batches/Counts"
import type { RequestCode } from "@data-import/domain/codes/Code"
import { supplierCodeLength } from "@data-import/domain/suppliers/Supplier"
import { listElements } from "@data-import/domain/schema/Json"
import { requires } from "./Authorization.ts"
import {
  BatchBody,
  BatchLineBody,
  BatchRequestBody,
  CreatedBatchBody,
  LineResultBody,
  ProblemsBody,
  ReceivedBody,
  StartRequestBody
} from "./BatchBody.ts"
import * as Examples from "./BatchExamples.ts"
import { anyBody, anyKeyed, anyProtected, errorBodies } from "./ErrorBody.ts"
import { getBatchForecast, getBatchOutcome, listOutcomeLines } from "./RehearsalApi.ts"
import { exampleAccount } from "@data-import/domain/accounts/ExampleAccount"
import { sampleKey } from "./Examples.ts"
import { longestWait } from "./Limits.ts"
import {
  created,
  KeyRefusal,
  notModified,
  operation,
  type OperationDocs,
  type ParameterDocs
} from "./Operation.ts"
import { flag, oneOf, plainText, wholeNumber } from "./Parameter.ts"

const root = "/v1/data-import/batches/"

const id = { batch_id: Schema.String }

const idParameter: ParameterDocs = {
  description: "The batch. One that is unknown or not the caller's is a 404.",
  schema: { type: "string" },
  example: Examples.batchParameter
}

/** The default page size of batches. */
export const defaultListLimit = 100

const errorsOf = <const Code extends RequestCode = never>(...codes: ReadonlyArray<Code>) =>
  errorBodies(["request_failed_validation", "not_found", ...codes, ...anyProtected])

const entityTag =
  "The entity tag of the batch, for If-None-Match. It changes with the counts, the state, " +
  "paused_by and waiting_for."

const createBatch = HttpApiEndpoint.post("createBatch", root, {
  payload: BatchRequestBody,
  success: created(CreatedBatchBody),
  error: errorsOf(
    "operations_team_name_does_not_exist",
    "batch_limit_exceeded",
    "storage_limit_exceeded",
    "batch_state_conflict",
    "batch_lines_deleted",
    ...anyKeyed,
    ...anyBody
  )
})
  .annotate(KeyRefusal, "request_failed_validation")
  .annotateMerge(
    operation(
      "Create a batch",
      "Creates a batch that takes lines. With `source` it takes none, and with `retry_of` it has " +
        "the failed lines of that batch already; both are then to be started.",
      {
        requests: {
          import: { summary: "Import accounts", value: Examples.importBatchRequest },
          pending: { summary: "Process what is pending", value: Examples.pendingBatchRequest },
          retry: { summary: "Send the failed lines again", value: Examples.retryRequest }
        },
        answers: {
          201: {
            created: { summary: "The batch takes lines", value: Examples.openBatch },
            retry: { summary: "A retry has its lines", value: Examples.retryBatch }
          }
        }
      }
    )
  )
  .pipe(requires("import:write"))

const sendBatchLines = HttpApiEndpoint.put("sendBatchLines", `${root}:batch_id/lines/`, {
  params: id,
  query: Schema.Struct({ from_line: Schema.optionalKey(wholeNumber(1, batchLimits.lines)) }),
  payload: HttpApiSchema.StreamNdjson({ schema: BatchLineBody }),
  success: ReceivedBody,
  error: errorsOf(
    "batch_line_differs",
    "batch_line_gap",
    "batch_upload_superseded",
    "batch_limit_exceeded",
    "storage_limit_exceeded",
    "batch_state_conflict",
    "request_timeout",
    "unsupported_media_type"
  )
})
  .annotateMerge(
    operation(
      "Send lines",
      "Adds lines to an open batch, as `application/x-ndjson`. Lines are committed while they " +
        "arrive, and stay when the connection breaks: read `counts.received` and go on with the " +
        "next line. A line that was received before must be the same bytes. A line that is not " +
        "acceptable fails by itself later, and not the upload. Of two uploads to one batch the " +
        "newer wins. Send parts of at most 64 MiB.",
      {
        parameters: {
          batch_id: idParameter,
          from_line: {
            description: "The number of the first line of this body; the first line of all is 1.",
            schema: { type: "integer", minimum: 1, maximum: batchLimits.lines, default: 1 },
            example: 1
          }
        },
        requestHeaders: {
          "Content-Encoding": {
            description: "`gzip` if the whole body is one gzip stream.",
            schema: { type: "string" },
            example: "gzip"
          }
        },
        requests: {
          account: { summary: "A line of VALIDATE, STAGE or IMPORT", value: exampleAccount },
          process: {
            summary: "A line of PROCESS",
            value: { external_account_number: sampleKey.external_account_number }
          }
        },
        answers: {
          200: { received: { summary: "All are committed", value: { lines_received: 100_000 } } }
        }
      }
    )
  )
  .pipe(requires("import:write"))

const startBatch = HttpApiEndpoint.post("startBatch", `${root}:batch_id/start/`, {
  params: id,
  payload: StartRequestBody,
  success: BatchBody,
  error: errorsOf("batch_line_count_mismatch", "batch_state_conflict", ...anyKeyed, ...anyBody)
})
  .annotate(KeyRefusal, "request_failed_validation")
  .annotateMerge(
    operation(
      "Start a batch",
      "Closes the upload and queues the work. The batch acts as the key that starts it. Starting it " +
        "again with the same number changes nothing.",
      {
        parameters: { batch_id: idParameter },
        requests: { all: { summary: "Everything was sent", value: Examples.startRequest } },
        answers: { 200: { queued: { summary: "It is queued", value: Examples.queuedBatch } } }
      }
    )
  )
  .pipe(requires("import:write"))

/** A change of state that needs no body. */
const change = <const Name extends string, const Action extends string>(
  name: Name,
  action: Action,
  [summary, description]: readonly [string, string],
  answers: NonNullable<OperationDocs["answers"]>
) =>
  HttpApiEndpoint.post(name, `${root}:batch_id/${action}/`, {
    params: id,
    success: BatchBody,
    error: errorsOf("batch_state_conflict", ...anyKeyed, "request_timeout", "payload_too_large")
  })
    .annotate(KeyRefusal, "request_failed_validation")
    .annotateMerge(
      operation(summary, `${description} It takes no body. Repeating it changes nothing.`, {
        parameters: { batch_id: idParameter },
        answers
      })
    )
    .pipe(requires("import:write"))

const pauseBatch = change(
  "pauseBatch",
  "pause",
  ["Pause a batch", "No further lines are taken; those in hand end."],
  { 200: { paused: { summary: "It is paused", value: Examples.pausedBatch } } }
)

const resumeBatch = change(
  "resumeBatch",
  "resume",
  ["Resume a batch", "Lifts the pause of the caller, and that for too many failures."],
  { 200: { running: { summary: "It goes on", value: Examples.runningBatch } } }
)

const cancelBatch = change(
  "cancelBatch",
  "cancel",
  ["Cancel a batch", "Ends it for good; what was done stays, and lines in hand end."],
  { 200: { cancelled: { summary: "It is cancelled", value: Examples.cancelledBatch } } }
)

const getBatch = HttpApiEndpoint.get("getBatch", `${root}:batch_id/`, {
  params: id,
  query: Schema.Struct({ wait: Schema.optionalKey(wholeNumber(0, longestWait)) }),
  success: [BatchBody, notModified],
  error: errorsOf()
})
  .annotateMerge(
    operation(
      "Get a batch",
      "A batch with its counts. With If-None-Match it is a 304 where nothing has changed; with " +
        "`wait` as well, the answer waits for a change, at least one second.",
      {
        parameters: {
          batch_id: idParameter,
          wait: {
            description: "How many seconds to wait for a change. Without If-None-Match, none.",
            schema: { type: "integer", minimum: 0, maximum: longestWait, default: 0 },
            example: longestWait
          }
        },
        requestHeaders: {
          "If-None-Match": {
            description: "The ETag of an earlier answer.",
            schema: { type: "string" },
            example: 'W/"RUNNING...100000.59871.12.117.0.40000"'
          }
        },
        headers: { 200: { ETag: entityTag }, 304: { ETag: entityTag } },
        answers: { 200: { running: { summary: "It is running", value: Examples.runningBatch } } }
      }
    )
  )
  .pipe(requires("import:read"))

const listBatches = HttpApiEndpoint.get("listBatches", root, {
  query: Schema.Struct({
    import_supplier: plainText,
    limit: Schema.optionalKey(wholeNumber(1, listElements)),
    after: Schema.optionalKey(plainText)
  }),
  success: Schema.Array(BatchBody).annotate({ description: "One page, the newest batch first." }),
  error: errorsOf()
})
  .annotateMerge(
    operation("List batches", "The batches of a supplier, the newest first.", {
      parameters: {
        import_supplier: {
          description: "The supplier's code. One that is unknown or not the caller's is a 404.",
          schema: { type: "string", maxLength: supplierCodeLength },
          example: sampleKey.import_supplier
        },
        limit: {
          description: "The most batches to answer.",
          schema: {
            type: "integer",
            minimum: 1,
            maximum: listElements,
            default: defaultListLimit
          },
          example: 20
        },
        after: {
          description: "Only batches older than this batch_id.",
          schema: { type: "string" },
          example: Examples.batchParameter
        }
      },
      headers: {
        200: {
          Link: 'Where `limit` cut the list: `<…>; rel="next"`, the address of the next page.'
        }
      },
      answers: { 200: { one: { summary: "One batch", value: [Examples.runningBatch] } } }
    })
  )
  .pipe(requires("import:read"))

const listBatchResults = HttpApiEndpoint.get("listBatchResults", `${root}:batch_id/results/`, {
  params: id,
  query: Schema.Struct({
    after_line: Schema.optionalKey(wholeNumber(0, batchLimits.lines)),
    outcome: Schema.optionalKey(oneOf(LineOutcome.literals)),
    limit: Schema.optionalKey(wholeNumber(1, batchLimits.lines)),
    done: Schema.optionalKey(flag)
  }),
  success: HttpApiSchema.StreamNdjson({ schema: LineResultBody }),
  error: errorsOf()
})
  .annotateMerge(
    operation(
      "List results",
      "One result for each line, in the order of the lines, as `application/x-ndjson`. The results " +
        "stop at the first line that is not done; ask again with `after_line` for the rest.",
      {
        parameters: {
          batch_id: idParameter,
          after_line: {
            description: "Only results after this line: the Results-Through of the answer before.",
            schema: { type: "integer", minimum: 0, maximum: batchLimits.lines, default: 0 },
            example: 0
          },
          outcome: {
            description: "Only results with this outcome.",
            schema: { type: "string", enum: LineOutcome.literals },
            example: "FAILED"
          },
          limit: {
            description: "The most results to answer; all of them if it is omitted.",
            schema: { type: "integer", minimum: 1, maximum: batchLimits.lines },
            example: 10_000
          },
          done: {
            description: "Whether to include lines that are done after one that is not.",
            schema: { type: "boolean", default: false },
            example: false
          }
        },
        headers: {
          200: {
            "Results-Through": "The next `after_line`: everything up to this line was considered.",
            "Results-Complete": "`true` where no results are left to come, otherwise `false`."
          }
        },
        answers: {
          200: {
            succeeded: { summary: "A line that succeeded", value: Examples.succeededLine },
            failed: { summary: "A line that failed", value: Examples.failedLine }
          }
        }
      }
    )
  )
  .pipe(requires("import:read"))

const listBatchProblems = HttpApiEndpoint.get("listBatchProblems", `${root}:batch_id/problems/`, {
  params: id,
  success: ProblemsBody,
  error: errorsOf()
})
  .annotateMerge(
    operation(
      "List problems",
      "The failures of a batch, grouped by code and place, so that few fixes clear many lines.",
      {
        parameters: { batch_id: idParameter },
        answers: { 200: { two: { summary: "Two problems", value: Examples.problems } } }
      }
    )
  )
  .pipe(requires("import:read"))

/** What the batches service serves. */
export const BatchGroup = HttpApiGroup.make("batches", { topLevel: true })
  .add(
    createBatch,
    sendBatchLines,
    startBatch,
    pauseBatch,
    resumeBatch,
    cancelBatch,
    getBatch,
    listBatches,
    listBatchResults,
    listBatchProblems,
    getBatchForecast,
    getBatchOutcome,
    listOutcomeLines
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Batches",
      description: "A whole book at once: send lines, watch exact counts, get one result a line."
    })
  )
