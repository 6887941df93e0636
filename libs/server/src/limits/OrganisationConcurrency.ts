/**
 * Limits the requests in progress of one organisation, so that none can take the capacity of the
 * others. A refused request has had no effect and may be sent again.
 */
import { Effect } from "effect"
import { Throttled } from "@data-import/api/Refusal"
import type { OrganisationName } from "@data-import/domain/organisation/Organisation"
import type { Answered } from "../http/Answer.ts"

/** Runs a request of an organisation, or refuses it beyond the limit. */
export type LimitOrganisation = (organisation: OrganisationName, answer: Answered) => Answered

export const make = (limit: number): LimitOrganisation => {
  const running = new Map<OrganisationName, number>()
  const end = (organisation: OrganisationName) => {
    const remaining = (running.get(organisation) ?? 1) - 1
    if (remaining === 0) running.delete(organisation)
    else running.set(organisation, remaining)
  }
  return (organisation, answer) =>
    Effect.suspend(() => {
      const present = running.get(organisation) ?? 0
      if (present >= limit) return Effect.fail(new Throttled({ retryAfterSeconds: 1 }))
      running.set(organisation, present + 1)
      return Effect.ensuring(
        answer,
        Effect.sync(() => end(organisation))
      )
    })
}
