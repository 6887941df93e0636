/** Whose turn it is: round robin over suppliers, then over their batches. */
import * as Batch from "../../batch/Batch.ts"
import type { TakenLast } from "../Batches.ts"
import type { MemoryStore, StoredBatch } from "./Store.ts"

/** The items after the last one taken, then those up to it. */
const rotated = <A>(items: ReadonlyArray<A>, isLast: (item: A) => boolean): ReadonlyArray<A> => {
  const next = items.findIndex(isLast) + 1
  return [...items.slice(next), ...items.slice(0, next)]
}

/** The workable batches in turn: of each supplier after the last one, the one after its last. */
export const inTurn = (
  store: MemoryStore["Service"],
  last: TakenLast | null
): ReadonlyArray<StoredBatch> => {
  const workable = [...store.batches.values()].filter(({ batch }) => Batch.isWorkable(batch))
  const suppliers = [...Map.groupBy(workable, ({ batch }) => batch.settings.supplier)].sort(
    ([one], [other]) => (one < other ? -1 : 1)
  )
  return rotated(suppliers, ([supplier]) => supplier === last?.supplier).flatMap(
    ([supplier, batches]) =>
      rotated(batches, ({ batch }) => batch.id === last?.batches.get(supplier))
  )
}
