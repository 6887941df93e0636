/** How many items were added to an account after its import. */
import { Schema } from "effect"

export const AdditionCounts = Schema.Struct({
  transactions: Schema.Int,
  notes: Schema.Int,
  statements: Schema.Int,
  payment_instructions: Schema.Int
})
export type AdditionCounts = typeof AdditionCounts.Type
