/** The names of fields that the contract has. Any other name in a path is what a client sent. */
import { type SchemaTree, schemaTreeOf } from "../schema/SchemaTree.ts"
import { wholePayload } from "../schema/Rules.ts"
import { Account } from "./Account.ts"
import { PaymentInstruction } from "./PaymentInstruction.ts"

const namesIn = (tree: SchemaTree): ReadonlyArray<string> => {
  switch (tree._tag) {
    case "Struct":
      return [...tree.fields].flatMap(([name, { node }]) => [name, ...namesIn(node)])
    case "List":
      return namesIn(tree.element)
    default:
      return []
  }
}

export const fieldNames: ReadonlySet<string> = new Set([
  ...namesIn(schemaTreeOf(Account)),
  ...namesIn(schemaTreeOf(PaymentInstruction)),
  wholePayload,
  "payload"
])

/** Whether a segment of a path is a field or an index, and no name that a client made up. */
export const isDocumented = (segment: string): boolean =>
  fieldNames.has(segment) || /^(?:\d+|\*)$/.test(segment)
