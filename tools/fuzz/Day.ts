/**
 * The day that a case is made for. What is valid depends on the day at most, so the same seed makes
 * the same cases all day long.
 */
import { DateTime } from "effect"

export interface Day {
  /** `YYYY-MM-DD`. */
  readonly text: string
  /** Has passed at every moment of the day. */
  readonly begin: DateTime.Utc
  /** Has not passed at any moment of the day. */
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
