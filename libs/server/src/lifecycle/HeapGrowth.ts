/**
 * Limits the growth of a process's heap. On a machine with much memory, V8 lets the garbage in the
 * old generation grow to several times the live objects before it collects it. Much of this garbage
 * comes from lines or rows that are processed together, most of which outlive a collection of the
 * young generation.
 */
import { setFlagsFromString } from "node:v8"

/** The old generation is collected when it has grown by this percentage of the live objects. */
const growthPercent = 75

/** V8 reads the flag whenever it decides when to collect next. */
export const limitHeapGrowth = (): void => {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
}
