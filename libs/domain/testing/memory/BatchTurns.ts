/** Whose turn it is: round robin over organisations, then over their suppliers and batches. */
import * as Batch from "../../src/batches/Batch.ts"
import type { OrganisationName } from "../../src/suppliers/Organisation.ts"
import type { Busy } from "../../src/support/Shares.ts"
import type { TakenLast } from "../../src/batches/Batches.ts"
import type { MemoryStore, StoredBatch } from "./Store.ts"

/** The items after the last one taken, then those up to it. */
const rotated = <A>(items: ReadonlyArray<A>, isLast: (item: A) => boolean): ReadonlyArray<A> => {
  const next = items.findIndex(isLast) + 1
  return [...items.slice(next), ...items.slice(0, next)]
}

/** The groups in the order of their keys, from the one after `last` on. */
const grouped = <Key extends string>(
  batches: ReadonlyArray<StoredBatch>,
  keyOf: (batch: Batch.Batch) => Key,
  last: Key | undefined
) => {
  const groups = [...Map.groupBy(batches, ({ batch }) => keyOf(batch))]
  const sorted = groups.sort(([one], [other]) => (one < other ? -1 : 1))
  return rotated(sorted, ([key]) => key === last)
}

/** The workable batches in turn; those of busy organisations last, or not at all. */
export const inTurn = (
  store: MemoryStore["Service"],
  last: TakenLast | null,
  busy: Busy<OrganisationName> | undefined
): ReadonlyArray<StoredBatch> => {
  const workable = [...store.batches.values()].filter(({ batch }) => Batch.isWorkable(batch))
  const turns = grouped(workable, ({ organisation }) => organisation, last?.organisation)
  const ofTurn = (isBusy: boolean) =>
    turns.filter(([name]) => (busy?.keys.includes(name) ?? false) === isBusy)
  const later = busy?.wait === true ? [] : ofTurn(true)
  return [...ofTurn(false), ...later].flatMap(([organisation, ofOne]) =>
    grouped(ofOne, ({ settings }) => settings.supplier, last?.suppliers.get(organisation)).flatMap(
      ([supplier, batches]) =>
        rotated(batches, ({ batch }) => batch.id === last?.batches.get(supplier))
    )
  )
}
