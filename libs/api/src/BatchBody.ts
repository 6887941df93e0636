/**
 * The bodies of requests for batches and of their answers, with their descriptions.
 * Source: docs/contract/batches.md#resources.
 */
import { Schema } from "effect"
import { BatchParameters } from "@data-import/domain/batches/Batch"
import * as Batch from "@data-import/domain/batches/BatchBody"
import { errorsOfLine } from "@data-import/domain/batches/BatchLine"
import { LineOutcome } from "@data-import/domain/batches/Counts"
import {
  BatchPayload,
  SourceFilter,
  StartPayload
} from "@data-import/domain/batches/BatchValidation"
import { AnyObject, InstantText } from "./DecimalSchema.ts"
import { documented } from "./Documented.ts"
import { lineCount } from "./ErrorBody.ts"

const filter = documented("SourceFilter", "Which imports of the source.", SourceFilter, {
  cohort: "Only imports of this cohort.",
  batch_id: "Of IMPORTED: only accounts that this batch has created. It must have ended.",
  created_after: {
    description: "Of IMPORTED: only accounts that were created after this instant.",
    wire: InstantText
  },
  created_before: {
    description: "Of IMPORTED: only accounts that were created before this instant.",
    wire: InstantText
  },
  code: "Of PENDING: only imports whose last attempt failed with this code.",
  failed:
    "Of PENDING: only imports whose last attempt failed (true), or that were never attempted (false)."
})

const parameters = documented(
  "BatchParameters",
  "The query parameters of the endpoint, for every line.",
  BatchParameters,
  {
    check_previously_added: {
      description: "As the query parameter of Create transactions.",
      default: true
    },
    force_add_to_current_statement: {
      description: "As the query parameter of Create transactions.",
      default: true
    },
    on_difference: {
      description:
        "As the query parameter of Create transactions and Create notes. A line that changes nothing " +
        "although it differs is no success, so the default is another one here.",
      default: "fail"
    }
  }
)

export const BatchRequestBody = Schema.Struct({
  payload: documented(
    "BatchPayload",
    "What to do, and with which settings.",
    BatchPayload,
    {
      import_supplier: "The supplier's code; of every line.",
      operation: "What is done with each line.",
      name: "A name of your own, for people.",
      operations_team_name:
        "The team that takes the accounts over; it must exist. IMPORT and PROCESS need it.",
      dry_run: {
        description:
          "Whether IMPORT, PROCESS and REVERT only rehearse: nothing is stored, and a line that would " +
          "succeed is SUCCEEDED, for the first two with the status and code of a successful dry run.",
        default: false
      },
      cohort:
        "The cohort of what this batch stages, but for lines with one of their own; lists and later " +
        "batches select by it, with `filter.cohort`. Not with `source`.",
      source:
        "The batch has no lines of its own. PENDING, for PROCESS: it processes everything that is " +
        "staged and pending when it starts. IMPORTED, for REVERT: it reverts every account that is " +
        "imported when it starts.",
      reason: "For REVERT, which needs it: why, as for Revert an account.",
      with_additions: {
        description: "For REVERT: as for Revert an account, for every line.",
        default: false
      },
      filter: "Narrows the source.",
      retry_of:
        "An ended batch, whose failed lines are sent again as they were. Settings that are left out " +
        "are those of that batch.",
      max_failures: "Pauses the batch when more lines than this have failed; never if omitted.",
      parameters:
        "The query parameters of the endpoint, for every line; for TRANSACTIONS and NOTES."
    },
    { filter, parameters }
  )
}).annotate({ identifier: "BatchRequest", description: "A batch to create." })

export const StartRequestBody = Schema.Struct({
  payload: documented("StartPayload", "What was sent.", StartPayload, {
    total_lines: "How many lines were sent in all. It must be what was received."
  })
}).annotate({ identifier: "StartRequest", description: "Closes the upload." })

/** A line is described by its operation. */
export const BatchLineBody = AnyObject.annotate({
  identifier: "BatchLine",
  description:
    "One line. VALIDATE, STAGE, IMPORT: an account payload, not wrapped; for the last two also the " +
    "body of stage, to have a `cohort` beside the payload. PROCESS: an object with " +
    "`external_account_number`. REVERT: also with `kraken_account_number`. The others: the body of the endpoint. `import_supplier` may be " +
    "left out everywhere."
})

export const ReceivedBody = Schema.Struct({
  lines_received: lineCount("How many lines are committed; the next one is the line after them.")
}).annotate({ identifier: "ReceivedLines", description: "How far the upload has come." })

const counts = documented(
  "BatchCounts",
  "Every line that was received is in exactly one of the other counts.",
  Batch.CountsBody,
  {
    received: "All lines.",
    succeeded: "Lines that had their effect, or would have it in a dry run.",
    already: "Lines whose content was there already.",
    failed: "Lines that ended with an error.",
    cancelled: "Lines that had not ended when the batch was cancelled.",
    remaining: "Lines that have not ended."
  }
)

const batchWords = {
  batch_id: "The id of the batch, a UUID.",
  import_supplier: "The supplier's code.",
  operation: "What is done with each line.",
  dry_run: "Whether it only tries its lines, and imports nothing.",
  name: "The name as sent; null without one.",
  cohort: "The cohort as sent; null without one.",
  state:
    "OPEN: takes lines. QUEUED: waits for a worker. RUNNING. PAUSED. COMPLETED: no line failed. " +
    "COMPLETED_WITH_FAILURES: at least one failed. CANCELLED.",
  paused_by: "Why it is paused; it goes on when the list is empty.",
  waiting_for: "What the lines wait for although the batch is not paused; null for nothing.",
  counts: "How many lines there are, and how they ended.",
  created_at: { description: "When it was created.", wire: InstantText },
  started_at: { description: "When its upload was closed; null before.", wire: InstantText },
  finished_at: { description: "When its last line ended; null before.", wire: InstantText },
  lines_per_second: "How many lines ended each second, over the last minute.",
  estimated_finish_at: {
    description: "When it will have ended at this speed; null where that is unknown.",
    wire: InstantText
  },
  retry_of: "The batch whose failed lines these are; null for a batch that is no retry."
}

export const BatchBody = documented(
  "Batch",
  "A batch and how far it has come.",
  Batch.BatchBody,
  batchWords,
  { counts }
)

export const CreatedBatchBody = documented(
  "CreatedBatch",
  "The new batch.",
  Batch.CreatedBatchBody,
  {
    ...batchWords,
    lines_left_out:
      "Of a retry: how many failed lines it leaves out, because a later line of the same account " +
      "number or another retry has done the work, the account is imported, or the line was erased."
  },
  { counts }
)

const line = lineCount("The number of the line, from 1.")

const externalNumber = Schema.NullOr(Schema.String).annotate({
  description: "The account number that the line names; null where it names none."
})

/** The result of one line. */
export const LineResultBody = Schema.Struct({
  line,
  external_account_number: externalNumber,
  outcome: LineOutcome.annotate({
    description:
      "SUCCEEDED. ALREADY: the same content was there. FAILED. CANCELLED: the batch was cancelled before."
  }),
  status: Schema.NullOr(
    Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))
  ).annotate({
    description:
      "The status that the single endpoint answers. Null for a cancelled line, unless it was staged " +
      "and waited to be processed."
  }),
  kraken_account_number: Schema.optionalKey(
    Schema.String.annotate({ description: "The platform account, where there is one." })
  ),
  answer: Schema.optionalKey(
    Schema.Union([AnyObject, Schema.Array(AnyObject)]).annotate({
      description:
        "The body that the single endpoint answers to a key without `account:read`, where it says " +
        "more than success."
    })
  ),
  error: Schema.optionalKey(
    AnyObject.annotate({
      description:
        "The error that the single endpoint answers to a key without `account:read`, with at most " +
        `${errorsOfLine} errors.`
    })
  ),
  source_line: Schema.optionalKey(
    lineCount("Of a retry: the number of the line in the batch that is retried.")
  ),
  erased: Schema.optionalKey(
    Schema.Literal(true).annotate({
      description: "The customer was erased, and with that what the line and its result said."
    })
  )
}).annotate({ identifier: "BatchLineResult", description: "What became of one line." })

const Problem = Schema.Struct({
  code: Schema.String.annotate({
    description: "The code of the errors, or of the whole answer where it lists none."
  }),
  attr: Schema.String.annotate({
    description:
      "Where the errors point, with `*` for every index; `non_field_errors` for the whole line."
  }),
  lines: lineCount("How many failed lines have this problem."),
  cleared_lines: lineCount(
    "How many failed lines would have no problem left if this one and all before it were fixed."
  ),
  examples: Schema.Array(
    Schema.Struct({
      line,
      external_account_number: externalNumber,
      detail: Schema.NullOr(Schema.String).annotate({
        description: "For humans; null once the lines are deleted."
      }),
      business_day: Schema.optionalKey(
        Schema.String.annotate({
          description: "The day by which the line was judged; on another day it may be valid."
        })
      )
    }).annotate({ identifier: "ProblemExample", description: "One line with the problem." })
  ).annotate({ description: "The first lines with the problem, at most 5." })
}).annotate({ identifier: "BatchProblem", description: "Failures with the same cause." })

export const ProblemsBody = Schema.Struct({
  failed_lines: lineCount("How many lines have failed."),
  problems: Schema.Array(Problem).annotate({ description: "The most frequent first." })
}).annotate({ identifier: "BatchProblems", description: "The failures of a batch, grouped." })
