/**
 * How far the heap of the process grows. Most of what a line leaves outlives a collection of the
 * young generation, because the lines of a chunk are worked on together. On a machine with much
 * memory V8 lets such garbage grow to several times what is alive before it collects it.
 */
import { setFlagsFromString } from "node:v8"

/** The old generation is collected when it has grown by this part of what was alive. */
const growthPercent = 75

/** V8 reads the flag whenever it decides when to collect next. */
export const limitHeapGrowth = (): void => {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
}
