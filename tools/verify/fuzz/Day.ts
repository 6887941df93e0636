/**
 * The day for which a case is made. Validity depends only on the day, so the same seed makes the
 * same cases all day long.
 */
import { DateTime } from "effect"

export interface Day {
  /** `YYYY-MM-DD`. */
  readonly text: string
  /** An instant that has passed at every moment of the day. */
  readonly begin: DateTime.Utc
  /** An instant that has not passed at any moment of the day. */
  readonly end: DateTime.Utc
}

/** The day of this instant, in UTC. */
export const dayOf = (instant: DateTime.Utc): Day => {
  const text = DateTime.formatIso(instant).slice(0, 10)
  return {
    text,
    begin: DateTime.makeUnsafe(`${text}T00:00:00Z`),
    end: DateTime.makeUnsafe(`${text}T23:59:59Z`)
  }
}
