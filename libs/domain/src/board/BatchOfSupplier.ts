/** A batch that a page of a migration names. One of another supplier is reported as unknown. */
import { Effect, Option, Schema } from "effect"
import { BatchId } from "../batches/Batch.ts"
import type { Batches } from "../batches/Batches.ts"
import { NotFound } from "../requests/Failure.ts"
import * as RequestFacts from "../requests/RequestFacts.ts"
import type { Supplier } from "../suppliers/Supplier.ts"

const batchId = Schema.decodeUnknownOption(BatchId)

export const findBatch = Effect.fnUntraced(function* (
  { batches }: { readonly batches: Batches["Service"] },
  { code }: Pick<Supplier, "code">,
  named: string
) {
  const id = batchId(named)
  const found = Option.isSome(id) ? yield* batches.findOfAny(id.value) : Option.none()
  if (Option.isNone(found) || found.value.settings.supplier !== code) return yield* new NotFound()
  yield* RequestFacts.noteBatch(found.value)
  return found.value
})
