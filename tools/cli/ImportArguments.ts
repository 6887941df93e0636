/** The arguments by which commands name a supplier and an import. */
import { Argument } from "effect/cli"

export const supplier = Argument.String("supplier").pipe(
  Argument.withMetavar("CODE"),
  Argument.withDescription("The code of the import supplier")
)

export const number = Argument.String("number").pipe(
  Argument.withMetavar("NUMBER"),
  Argument.withDescription("The external account number, as it was sent")
)
