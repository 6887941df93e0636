/**
 * Limits the requests in progress of one organisation, so that none can take the capacity of the
 * others. A refused request has had no effect and may be sent again.
 */
import { Context, Effect } from "effect"
import { Throttled } from "@data-import/api/Refusal"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { Answered } from "../http/Answer.ts"

/** Runs a request of an organisation, or refuses it beyond the limit. Undefined has no limit. */
export type LimitOrganisation = (
  organisation: OrganisationName | undefined,
  answer: Answered
) => Answered

interface Slot {
  readonly take: Effect.Effect<void>
  readonly free: Effect.Effect<void>
}

/** The slot of the request of a fiber. */
const Slot = Context.Reference<Slot>("@data-import/server/Slot", {
  defaultValue: () => ({ take: Effect.void, free: Effect.void })
})

/**
 * Frees the slot of the request while the effect runs. The slot is then taken again regardless of
 * the limit.
 */
export const withoutSlot = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Slot, ({ free, take }) =>
    Effect.acquireUseRelease(
      free,
      () => effect,
      () => take
    )
  )

const refused = Effect.andThen(
  RequestFacts.note({ limit: "organisation" }),
  Effect.fail(new Throttled({ retryAfterSeconds: 1 }))
)

export const make = (limit: number): LimitOrganisation => {
  const running = new Map<OrganisationName, number>()
  const slotOf = (organisation: OrganisationName): Slot => ({
    take: Effect.sync(() => void running.set(organisation, (running.get(organisation) ?? 0) + 1)),
    free: Effect.sync(() => {
      const remaining = (running.get(organisation) ?? 1) - 1
      if (remaining === 0) running.delete(organisation)
      else running.set(organisation, remaining)
    })
  })
  return (organisation, answer) =>
    Effect.suspend(() => {
      if (organisation === undefined) return answer
      const present = running.get(organisation) ?? 0
      if (present >= limit) return refused
      const slot = slotOf(organisation)
      const served = Effect.provideService(answer, Slot, slot)
      return Effect.andThen(slot.take, Effect.ensuring(served, slot.free))
    })
}
