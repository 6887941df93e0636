/**
 * The day that a case is made for. What is valid or broken depends on the day at most, so that the
 * same seed makes the same cases all day long.
 */
import { DateTime } from "effect"

export interface Day {
  /** `YYYY-MM-DD`. */
  readonly text: string
  /** Nothing later than this has happened yet, whenever on this day it is judged. */
  readonly begin: DateTime.Utc
  /** Everything up to this is still to come, whenever on this day it is judged. */
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
