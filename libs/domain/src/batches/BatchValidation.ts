/**
 * The bodies that create and start a batch, with their validators.
 * Source: docs/contract/batches.md#creating-a-batch, docs/contract/batches.md#starting-a-batch.
 */
import { Schema } from "effect"
import { SupplierCodeField } from "../accounts/Account.ts"
import {
  BatchId,
  BatchOperation,
  BatchParameters,
  ImportedFilter,
  PendingFilter,
  ShortName
} from "./Batch.ts"
import { choice, formed, integer } from "../schema/Field.ts"
import { type Rule, supplierExists } from "../schema/Rules.ts"
import { validator } from "../schema/Validator.ts"
import { RevertReason } from "../imports/Revert.ts"
import { ProcessPayload } from "../accounts/AccountValidation.ts"

const BatchIdField = formed(Schema.is(BatchId), {
  code: "invalid",
  detail: "Must be the batch_id of a batch."
}).pipe(Schema.brand("BatchId"))

/** The conditions of either source. */
export const SourceFilter = Schema.Struct({
  ...PendingFilter.fields,
  ...ImportedFilter.fields,
  batch_id: Schema.optionalKey(BatchIdField)
})

export const BatchPayload = Schema.Struct({
  import_supplier: SupplierCodeField,
  operation: choice(BatchOperation.literals),
  name: Schema.optionalKey(ShortName),
  operations_team_name: Schema.optionalKey(ProcessPayload.fields.operations_team_name),
  dry_run: Schema.optionalKey(Schema.Boolean),
  cohort: Schema.optionalKey(ShortName),
  reason: Schema.optionalKey(RevertReason),
  with_additions: Schema.optionalKey(Schema.Boolean),
  source: Schema.optionalKey(choice(["PENDING", "IMPORTED"])),
  filter: Schema.optionalKey(SourceFilter),
  retry_of: Schema.optionalKey(BatchIdField),
  max_failures: Schema.optionalKey(integer(0, 2 ** 31 - 1)),
  parameters: Schema.optionalKey(BatchParameters)
})
export type BatchPayload = typeof BatchPayload.Type

/** The greatest number: one with more digits is not read as a number. */
const greatestCount = 999_999_999_999_999

export const StartPayload = Schema.Struct({ total_lines: integer(0, greatestCount) })

const processing: ReadonlyArray<BatchOperation> = ["IMPORT", "PROCESS"]

/** A retry has the team of the batch that it retries. */
const teamIsNamed: Rule<BatchPayload> = (payload, _facts, report) => {
  const { operation, operations_team_name, retry_of } = payload
  if (!processing.includes(operation) || retry_of !== undefined) return
  if (operations_team_name === undefined) {
    report("required", `${processing.join(" and ")} need a team.`, "operations_team_name")
  }
}

/** A retry has the reason of the batch that it retries. */
const reasonIsGiven: Rule<BatchPayload> = ({ operation, reason, retry_of }, _facts, report) => {
  if (operation === "REVERT" && reason === undefined && retry_of === undefined) {
    report("required", "REVERT needs a reason.", "reason")
  }
}

const sourceOf = { PENDING: "PROCESS", IMPORTED: "REVERT" } as const
const filterOf = { PENDING: PendingFilter, IMPORTED: ImportedFilter } as const

const sourceIsOfOperation: Rule<BatchPayload> = ({ operation, source }, _facts, report) => {
  const takesOther = source === "PENDING" ? "REVERT" : "PROCESS"
  if (source === undefined || operation !== takesOther) return
  report("invalid", `${source} is the source of ${sourceOf[source]}.`, "source")
}

const filterIsOfSource: Rule<BatchPayload> = ({ filter, source }, _facts, report) => {
  if (source === undefined) return
  for (const name of Object.keys(filter ?? {})) {
    if (name in filterOf[source].fields) continue
    report("unknown_field", "A condition of the other source only.", "filter", name)
  }
}

/** Other operations do not document the field. */
const isOnlyOf =
  (field: keyof BatchPayload, operations: ReadonlyArray<BatchOperation>): Rule<BatchPayload> =>
  (payload, _facts, report) => {
    if (payload[field] === undefined || operations.includes(payload.operation)) return
    report("unknown_field", `A field of ${operations.join(" and ")} only.`, field)
  }

/** It would look like a condition, and everything would be processed or reverted. */
const cohortIsOfLines: Rule<BatchPayload> = ({ cohort, source }, _facts, report) => {
  if (cohort === undefined || source === undefined) return
  const detail = "Not a field beside source; to select a cohort, send filter.cohort."
  report("unknown_field", detail, "cohort")
}

/** The other parameters are those of transactions. */
const parametersAreOfNotes: Rule<BatchPayload> = ({ operation, parameters }, _facts, report) => {
  if (operation !== "NOTES") return
  for (const name of Object.keys(parameters ?? {})) {
    if (name === "on_difference") continue
    report("unknown_field", "A parameter of TRANSACTIONS only.", "parameters", name)
  }
}

const filterHasSource: Rule<BatchPayload> = ({ filter, source }, _facts, report) => {
  if (filter !== undefined && source === undefined) {
    report("required", "A filter needs the source that it narrows.", "source")
  }
}

const linesHaveOneSource: Rule<BatchPayload> = ({ retry_of, source }, _facts, report) => {
  if (source !== undefined && retry_of !== undefined) {
    report("fields_are_mutually_exclusive", "Send source or retry_of, not both.", "source")
  }
}

export const batchRequest = validator({
  schema: Schema.Struct({ payload: BatchPayload }),
  rules: {
    rules: [
      supplierExists,
      teamIsNamed,
      isOnlyOf("dry_run", [...processing, "REVERT"]),
      cohortIsOfLines,
      reasonIsGiven,
      isOnlyOf("reason", ["REVERT"]),
      isOnlyOf("with_additions", ["REVERT"]),
      isOnlyOf("source", ["PROCESS", "REVERT"]),
      isOnlyOf("filter", ["PROCESS", "REVERT"]),
      sourceIsOfOperation,
      filterIsOfSource,
      isOnlyOf("parameters", ["TRANSACTIONS", "NOTES"]),
      parametersAreOfNotes,
      filterHasSource,
      linesHaveOneSource
    ]
  },
  wrapper: "payload"
})

export const startRequest = validator({
  schema: Schema.Struct({ payload: StartPayload }),
  rules: { rules: [] },
  wrapper: "payload"
})
