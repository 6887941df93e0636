/**
 * The configuration of a supplier.
 * Source: docs/contract/queries.md#configuration.
 */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { requires } from "./Authorization.ts"
import { ConfigurationBody, exampleConfiguration } from "./ConfigurationBody.ts"
import { anyProtected, errorBodies } from "./ErrorBody.ts"
import { operation } from "./Operation.ts"
import { supplier } from "./PathParameter.ts"

export const getSupplierConfiguration = HttpApiEndpoint.get(
  "getSupplierConfiguration",
  "/v1/data-import/suppliers/:import_supplier/configuration/",
  {
    params: { import_supplier: Schema.String },
    success: ConfigurationBody,
    error: errorBodies(["request_failed_validation", "not_found", ...anyProtected])
  }
)
  .annotateMerge(
    operation(
      "Get the configuration of a supplier",
      "What only the service knows of the rules: the time zone of the supplier's business day, and " +
        "the values that the operator added to the open choices. It is the configuration file of " +
        "`data-import check`.",
      {
        parameters: { import_supplier: supplier },
        answers: {
          200: {
            configuration: {
              summary: "A supplier in London, with its own ledgers",
              value: exampleConfiguration
            }
          }
        }
      }
    )
  )
  .pipe(requires("import:read"))
