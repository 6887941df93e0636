/**
 * The revert of an account.
 * Source: docs/contract/reverts.md.
 */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import type { RevertAnswer } from "@data-import/domain/imports/ImportRevert"
import { RevertPayload } from "@data-import/domain/imports/Revert"
import { requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { AdditionsBody, anyBody, anyKeyed, anyProtected, errorBodies } from "./ErrorBody.ts"
import { sampleNumber } from "./Examples.ts"
import { exampleImport, ImportBody, importBody } from "./ImportBody.ts"
import { KeyRefusal, operation } from "./Operation.ts"
import { number, supplier } from "./PathParameter.ts"

const RevertRequestBody = Schema.Struct({
  payload: documented("RevertPayload", "What to revert, and why.", RevertPayload, {
    kraken_account_number: {
      description:
        "The present account of the import, so that a repeat never reverts the next one.",
      examples: [sampleNumber]
    },
    reason: {
      description: "Why, in up to 500 characters. It is kept with the account until an erasure.",
      examples: ["The balances of this wave had the wrong sign."]
    },
    with_additions: {
      description: "Whether what was added to the account after its import may end with it.",
      default: false
    },
    dry_run: { description: "Whether only to tell what would happen.", default: false }
  })
}).annotate({ identifier: "RevertRequest", description: "An account to revert." })

const EndedInstruction = Schema.Struct({
  vendor: Schema.String.annotate({ description: "The vendor, which is not told." }),
  reference: Schema.String.annotate({ description: "Its reference there." }),
  type: Schema.String.annotate({ description: "Its type." })
}).annotate({
  identifier: "EndedPaymentInstruction",
  description: "A payment instruction that ends with the account."
})

const RevertBody = Schema.Struct({
  ...ImportBody.fields,
  revert: Schema.NullOr(
    Schema.Struct({
      dry_run: Schema.Boolean.annotate({ description: "Whether nothing was done." }),
      kraken_account_number: Schema.String.annotate({ description: "The account that ended." }),
      additions: AdditionsBody,
      payment_instructions: Schema.Array(EndedInstruction).annotate({
        description: "Those that ended with it. The vendor is not told: cancel them there."
      })
    }).annotate({ identifier: "Revert", description: "What a revert has done, or would do." })
  ).annotate({ description: "What was done; null if the account was reverted before." })
}).annotate({ identifier: "RevertedImport", description: "The import after a revert." })

/** The answer to a revert. */
export const revertBody = ({ account, at, details, payload }: RevertAnswer) => ({
  ...importBody(details, at),
  revert: account && {
    dry_run: payload.dry_run ?? false,
    kraken_account_number: payload.kraken_account_number as string,
    additions: account.additions,
    payment_instructions: account.active === null ? [] : [account.active]
  }
})

const additions = { transactions: 2, notes: 0, statements: 0, payment_instructions: 1 }

const exampleRevert = {
  ...exampleImport,
  state: "PENDING",
  reverted: [
    {
      kraken_account_number: sampleNumber,
      account_created_at: "2025-04-17T21:04:11Z",
      reverted_at: "2025-04-18T09:30:00Z",
      reason: "The balances of this wave had the wrong sign."
    }
  ],
  revert: {
    dry_run: false,
    kraken_account_number: sampleNumber,
    additions,
    payment_instructions: [{ vendor: "STRIPE", reference: "pm_1N2", type: "CARD" }]
  }
}

export const revertImport = HttpApiEndpoint.post(
  "revertImport",
  "/v1/data-import/imports/:import_supplier/:external_account_number/revert/",
  {
    params: { import_supplier: Schema.String, external_account_number: Schema.String },
    payload: RevertRequestBody,
    success: RevertBody,
    error: errorBodies([
      "request_failed_validation",
      "not_found",
      "import_supplier_migration_not_ongoing",
      "account_import_process_erased",
      "account_import_process_in_progress",
      "account_import_process_not_imported",
      "account_number_differs",
      "revert_window_closed",
      "account_has_additions",
      "payload_not_kept",
      ...anyKeyed,
      ...anyBody,
      ...anyProtected
    ])
  }
)
  .annotate(KeyRefusal, "request_failed_validation")
  .annotateMerge(
    operation(
      "Revert an account",
      "Ends the account of an import that went wrong. It is kept and can be read by its number, which " +
        "is never used again, and counts nowhere any more. The import is pending again with its " +
        "payload, to be staged and processed anew. An account that was reverted before is answered " +
        "unchanged, so that a retry is safe.",
      {
        parameters: { import_supplier: supplier, external_account_number: number },
        requests: {
          revert: {
            summary: "Revert an account with what was added to it",
            value: {
              payload: {
                kraken_account_number: sampleNumber,
                reason: "The balances of this wave had the wrong sign.",
                with_additions: true
              }
            }
          }
        },
        answers: {
          200: { reverted: { summary: "The import is pending again", value: exampleRevert } }
        }
      }
    )
  )
  .pipe(requires("import:revert"))
