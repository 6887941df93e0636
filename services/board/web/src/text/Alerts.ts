/** The form of the user's alerts: what it holds, and what it sends. */
import type { Alerts } from "../data/Answers.ts"

export type Kind = Alerts["kinds"][number]
export type Way = Alerts["told"][number]["way"]

export const kindNames: ReadonlyArray<readonly [Kind, string]> = [
  ["stuck", "A migration is stuck"],
  ["failing", "Accounts fail: at least"],
  ["late", "A migration is behind its plan, or will end after it"],
  ["wave_finished", "A wave is finished"],
  ["certificate_differs", "A certificate differs from what was expected or is stored"]
]

export const stateWords: Readonly<Record<Alerts["told"][number]["state"], string>> = {
  WAITING: "○ is being sent",
  SENT: "✓ sent",
  FAILED: "✗ not sent",
  UNKNOWN: "? not known whether it arrived"
}

export interface Draft {
  readonly kinds: ReadonlyArray<Kind>
  readonly share: string
  /** Null for all. */
  readonly suppliers: ReadonlyArray<string> | null
  readonly email: string
  /** Undefined keeps what is stored, null removes it. */
  readonly webhook: string | null | undefined
}

export const draftOf = (alerts: Alerts): Draft => ({
  kinds: alerts.kinds,
  share: String(alerts.failing_share),
  suppliers: alerts.import_suppliers,
  email: alerts.email ?? "",
  webhook: undefined
})

/** Adds or removes an element of a list. */
export const toggled = <A>(list: ReadonlyArray<A>, element: A): ReadonlyArray<A> =>
  list.includes(element) ? list.filter((each) => each !== element) : [...list, element]

export const bodyOf = ({ email, kinds, share, suppliers, webhook }: Draft) => ({
  kinds,
  failing_share: Number(share),
  import_suppliers: suppliers,
  email: email.trim() === "" ? null : email.trim(),
  ...(webhook !== undefined && webhook !== "" && { webhook })
})

/** What is missing in the form; null if it can be saved. */
export const problemOf = ({ share, suppliers }: Draft): string | null => {
  if (!/^([1-9]\d?|100)$/.test(share)) return "The percentage is a whole number from 1 to 100."
  return suppliers?.length === 0 ? "Choose a migration, or all." : null
}
