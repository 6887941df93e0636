/**
 * For whom the work of a fiber is: an organisation, which is known only once a request has been
 * authenticated, or nobody, for example where work is shared. What is scarce is given in turn over
 * holders.
 */
import { Context, type Fiber } from "effect"

export type Holder = string | undefined

export const Current = Context.Reference<() => Holder>("@data-import/domain/Holder", {
  defaultValue: () => () => undefined
})

/** Shared work has no holder. */
export const nobody = (): Holder => undefined

/** The holder of a fiber. */
export const of = (fiber: Fiber.Fiber<unknown, unknown>): Holder => fiber.getRef(Current)()
