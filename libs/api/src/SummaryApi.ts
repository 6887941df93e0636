/**
 * The summary of a supplier.
 * Source: docs/contract/queries.md#summary.
 */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { requires } from "./Authorization.ts"
import { anyProtected, errorBodies } from "./ErrorBody.ts"
import { sampleKey } from "./Examples.ts"
import { operation } from "./Operation.ts"
import { textUpTo } from "./Parameter.ts"
import { exampleSummary, SummaryBody } from "./SummaryBody.ts"

const cohortLength = 64

export const getSupplierSummary = HttpApiEndpoint.get(
  "getSupplierSummary",
  "/v1/data-import/suppliers/:import_supplier/summary/",
  {
    params: { import_supplier: Schema.String },
    query: Schema.Struct({ cohort: Schema.optionalKey(textUpTo(cohortLength)) }),
    success: SummaryBody,
    error: errorBodies(["request_failed_validation", "not_found", ...anyProtected])
  }
)
  .annotateMerge(
    operation(
      "Get the summary of a supplier",
      "What the imports of the supplier come to: how many are in each state, why they failed, and " +
        "what the balances of the accounts sum up to, all as of one instant.",
      {
        parameters: {
          import_supplier: {
            description: "The supplier's code. One that is unknown or not the caller's is a 404.",
            schema: { type: "string" },
            example: sampleKey.import_supplier
          },
          cohort: {
            description: "Only imports of this cohort.",
            schema: { type: "string", minLength: 1, maxLength: cohortLength },
            example: "wave-3"
          }
        },
        answers: { 200: { summary: { summary: "In the middle of a move", value: exampleSummary } } }
      }
    )
  )
  .pipe(requires("import:read"))
