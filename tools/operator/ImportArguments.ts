/** The arguments by which commands name an import. */
import { Argument } from "effect/cli"
import { asExternalAccountNumber, asSupplierCode } from "./Parameter.ts"

export const supplier = Argument.String("supplier").pipe(
  Argument.withDescription("The code of the import supplier"),
  asSupplierCode
)

export const number = Argument.String("number").pipe(
  Argument.withDescription("The external account number, as it was sent"),
  asExternalAccountNumber
)

export const importArguments = { import_supplier: supplier, external_account_number: number }
