/**
 * How far the heap of a process grows. On a machine with much memory V8 lets the garbage in the old
 * generation grow to several times what is alive before it collects it. Much of it arises where
 * lines or rows are worked on together, so that most outlive a collection of the young generation.
 */
import { setFlagsFromString } from "node:v8"

/** The old generation is collected when it has grown by this part of what was alive. */
const growthPercent = 75

/** V8 reads the flag whenever it decides when to collect next. */
export const limitHeapGrowth = (): void => {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
}
