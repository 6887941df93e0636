/** The example requests and responses of batches. */
import { sampleKey, sampleNumber } from "./Examples.ts"

const batchId = "7b0e5a52-61c0-4c1e-9a3f-3f1d0c9b8e11"

export const batchParameter = batchId

export const importBatchRequest = {
  payload: {
    import_supplier: sampleKey.import_supplier,
    operation: "IMPORT",
    name: "Wave 3, first run",
    operations_team_name: "Migration Team",
    cohort: "wave-3",
    max_failures: 1_000
  }
}

export const pendingBatchRequest = {
  payload: {
    import_supplier: sampleKey.import_supplier,
    operation: "PROCESS",
    operations_team_name: "Migration Team",
    source: "PENDING",
    filter: { cohort: "wave-3", failed: true }
  }
}

export const retryRequest = {
  payload: {
    import_supplier: sampleKey.import_supplier,
    operation: "IMPORT",
    retry_of: batchId
  }
}

export const startRequest = { payload: { total_lines: 100_000 } }

const none = { succeeded: 0, already: 0, failed: 0, cancelled: 0 }

export const openBatch = {
  batch_id: batchId,
  import_supplier: sampleKey.import_supplier,
  operation: "IMPORT",
  dry_run: false,
  name: importBatchRequest.payload.name,
  cohort: importBatchRequest.payload.cohort,
  state: "OPEN",
  paused_by: [],
  waiting_for: null,
  counts: { received: 0, ...none, remaining: 0 },
  created_at: "2026-11-22T08:00:00Z",
  started_at: null,
  finished_at: null,
  lines_per_second: 0,
  estimated_finish_at: null,
  retry_of: null
}

const received = 100_000

export const queuedBatch = {
  ...openBatch,
  state: "QUEUED",
  counts: { received, ...none, remaining: received },
  started_at: "2026-11-22T08:04:11Z"
}

export const runningBatch = {
  ...queuedBatch,
  state: "RUNNING",
  counts: {
    received,
    succeeded: 59_871,
    already: 12,
    failed: 117,
    cancelled: 0,
    remaining: 40_000
  },
  lines_per_second: 250.5,
  estimated_finish_at: "2026-11-22T08:11:20Z"
}

export const pausedBatch = { ...runningBatch, state: "PAUSED", paused_by: ["CALLER"] }

export const cancelledBatch = {
  ...runningBatch,
  state: "CANCELLED",
  counts: { ...runningBatch.counts, cancelled: 39_900, remaining: 100 },
  estimated_finish_at: null
}

export const retryBatch = {
  ...openBatch,
  batch_id: "c2a7a1fd-3f0e-4b57-8a55-0d1d52f6d9c4",
  counts: { received: 115, ...none, remaining: 115 },
  retry_of: batchId,
  lines_left_out: 2
}

export const succeededLine = {
  line: 1,
  external_account_number: sampleKey.external_account_number,
  outcome: "SUCCEEDED",
  status: 201,
  kraken_account_number: sampleNumber
}

export const failedLine = {
  line: 2,
  external_account_number: "NL-0004712",
  outcome: "FAILED",
  status: 400,
  error: {
    detail: "The account payload breaks one rule; see errors.",
    code: "account_failed_validation",
    errors: [
      {
        detail:
          "Must be a phone number in international format, like +4512345678: " +
          "it needs a leading + and the country's calling code.",
        code: "invalid_phone_number",
        attr: "customers.0.landline",
        parameters: { reason: "no_plus" }
      }
    ]
  }
}

export const problems = {
  failed_lines: 117,
  problems: [
    {
      code: "invalid_phone_number",
      attr: "customers.*.landline",
      lines: 112,
      cleared_lines: 109,
      examples: [
        {
          line: failedLine.line,
          external_account_number: failedLine.external_account_number,
          detail:
            "Must be a phone number in international format, like +4512345678: " +
            "it needs a leading + and the country's calling code."
        }
      ]
    },
    {
      code: "required",
      attr: "date_of_sale",
      lines: 8,
      cleared_lines: 117,
      examples: [
        {
          line: 4_711,
          external_account_number: null,
          detail: "This field is required."
        }
      ]
    }
  ]
}
