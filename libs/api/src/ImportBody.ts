/**
 * An import as the queries answer it: its state, what is staged, and how its attempts ended.
 * Source: docs/contract/queries.md#an-import.
 */
import { Schema } from "effect"
import {
  AttemptOutcome,
  type AttemptRecord,
  DetailedState,
  detailedStateOf,
  type ImportDetails,
  recordOfAttempt
} from "@data-import/domain/imports/ImportDetails"
import { type Code, registry } from "@data-import/domain/codes/Code"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { formatInstant } from "@data-import/domain/schema/Field"
import type { DateTime } from "effect"
import { InstantText } from "./DecimalSchema.ts"
import { FieldError } from "./ErrorBody.ts"
import { sampleKey } from "./Examples.ts"

const instantOrNull = (description: string) => Schema.NullOr(InstantText).annotate({ description })

const AttemptBody = Schema.Struct({
  started_at: InstantText.annotateKey({ description: "When the attempt began." }),
  ended_at: instantOrNull("When it ended or broke off; null while it runs."),
  dry_run: Schema.Boolean.annotate({ description: "Whether it was only a rehearsal." }),
  outcome: AttemptOutcome.annotate({
    description:
      "RUNNING. CREATED: the account exists. DRY_RUN_SUCCESSFUL: it would exist. FAILED: `code` and " +
      "`errors` say why. BROKEN_OFF: its process died, or could not give its result back in time."
  }),
  code: Schema.NullOr(
    Schema.Literals(Object.keys(registry) as unknown as readonly [Code, ...Array<Code>])
  ).annotate({ description: "The code that process answered; null unless it was an error." }),
  errors: Schema.Array(FieldError).annotate({
    description: "What process answered as `errors`; empty for other outcomes."
  })
}).annotate({ identifier: "ImportAttempt", description: "One attempt to create the account." })

const RevertedAccountBody = Schema.Struct({
  kraken_account_number: Schema.String.annotate({ description: "Its number, never used again." }),
  account_created_at: InstantText.annotateKey({ description: "When it was created." }),
  reverted_at: InstantText.annotateKey({ description: "When it was reverted." }),
  reason: Schema.NullOr(Schema.String).annotate({
    description: "Why, as it was sent; null once the import is erased."
  })
}).annotate({ identifier: "RevertedAccount", description: "An account that was reverted." })

/** The fields of an import that a list has if `fields` names them. */
export const detailFields = {
  state: DetailedState.annotate({
    description:
      "PENDING: no attempt was made since it was staged, or only dry runs. FAILED: the latest " +
      "attempt that was no dry run failed or broke off, and nothing was staged since. IN_PROGRESS: " +
      "an attempt is running. SKIPPED: the operator has marked it. IMPORTED: the account exists. " +
      "ERASED: the operator has erased its data."
  }),
  staged_at: InstantText.annotateKey({ description: "When it was staged last." }),
  times_staged: Schema.Int.annotate({ description: "How often it was staged." }),
  payload_hash: Schema.NullOr(Schema.String).annotate({
    description:
      "SHA-256 of the canonical JSON of the staged account, as stage answers it in its ETag; null " +
      "if it was staged before there were hashes."
  }),
  cohort: Schema.NullOr(Schema.String).annotate({
    description: "The cohort that it was staged in; null without one."
  }),
  attempts: Schema.Array(AttemptBody).annotate({
    description: "The latest attempts in the order of their start: 10 of an import, 1 in a list."
  }),
  reverted: Schema.Array(RevertedAccountBody).annotate({
    description: "The accounts that it had before and that were reverted, the oldest first."
  })
}

export type DetailField = keyof typeof detailFields
export const detailNames = Object.keys(detailFields) as ReadonlyArray<DetailField>

export const ImportBody = Schema.Struct({
  import_supplier: Schema.String.annotate({ description: "The supplier's code." }),
  external_account_number: Schema.String.annotate({
    description: "The account number at the supplier, as staged."
  }),
  kraken_account_number: Schema.NullOr(Schema.String).annotate({
    description: "The number of the platform account; null where there is none yet."
  }),
  account_created_at: instantOrNull("When the account was created; null where there is none yet."),
  ...detailFields
}).annotate({ identifier: "Import", description: "Where one import stands, and why." })

const attemptBody = (record: AttemptRecord) => ({
  ...record,
  started_at: formatInstant(record.started_at),
  ended_at: record.ended_at && formatInstant(record.ended_at),
  // Only codes of the registry were ever stored.
  errors: record.errors as ReadonlyArray<typeof FieldError.Type>
})

/** The details in the shape that `detailFields` documents. */
export const detailsBody = (details: ImportDetails, at: DateTime.Utc) => ({
  state: detailedStateOf(details, at),
  staged_at: formatInstant(details.stagedAt),
  times_staged: details.stagings,
  payload_hash: details.hash as string | null,
  cohort: details.cohort,
  attempts: details.attempts.map((attempt) => attemptBody(recordOfAttempt(details, attempt, at))),
  reverted: details.reverted.map(({ createdAt, number, reason, revertedAt }) => ({
    kraken_account_number: number as string,
    account_created_at: formatInstant(createdAt),
    reverted_at: formatInstant(revertedAt),
    reason
  }))
})

export const importBody = (details: ImportDetails, at: DateTime.Utc) => {
  const { account, key } = details.process
  return {
    import_supplier: wireCode(key.import_supplier) as string,
    external_account_number: key.external_account_number as string,
    kraken_account_number: (account?.number ?? null) as string | null,
    account_created_at: account && formatInstant(account.createdAt),
    ...detailsBody(details, at)
  }
}

export const exampleImport = {
  ...sampleKey,
  kraken_account_number: null,
  account_created_at: null,
  state: "FAILED",
  staged_at: "2025-04-17T20:55:02Z",
  times_staged: 2,
  payload_hash: "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730",
  cohort: "wave-3",
  attempts: [
    {
      started_at: "2025-04-17T21:04:10Z",
      ended_at: "2025-04-17T21:04:11Z",
      dry_run: false,
      outcome: "FAILED",
      code: "account_failed_validation",
      errors: [
        {
          attr: "notes.0.document_paths.0.document_path",
          code: "path_does_not_exist_in_file_store",
          detail: "No such document in the document store."
        }
      ]
    }
  ],
  reverted: []
}
