/** The parameters of paths that name an import or a supplier. */
import type { ParameterDocs } from "./Operation.ts"
import { sampleKey } from "./Examples.ts"

export const supplier: ParameterDocs = {
  description: "The supplier's code. One that is unknown or not the caller's is a 404.",
  schema: { type: "string" },
  example: sampleKey.import_supplier
}

export const number: ParameterDocs = {
  description:
    "The account number at the supplier, percent-encoded: any number can stand here, a slash as %2F.",
  schema: { type: "string" },
  example: sampleKey.external_account_number
}
