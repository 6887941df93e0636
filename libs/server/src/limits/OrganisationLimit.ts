/**
 * How many requests of one organisation a process works on at once, so that none can take all the
 * places of the others. What is refused may be sent again at once: nothing of it has been read.
 */
import { Effect } from "effect"
import { Throttled } from "@data-import/api/Refusal"
import type { OrganisationName } from "@data-import/domain/organisation/Organisation"
import type { Answered } from "../http/Answer.ts"

/** Runs what one organisation asks for, or refuses it while too much of that runs already. */
export type LimitOrganisation = (organisation: OrganisationName, answer: Answered) => Answered

export const make = (limit: number): LimitOrganisation => {
  const running = new Map<OrganisationName, number>()
  const end = (organisation: OrganisationName) => {
    const left = (running.get(organisation) ?? 1) - 1
    if (left === 0) running.delete(organisation)
    else running.set(organisation, left)
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
