/** The form of the user's alerts: what it holds, and what it sends. */
import type { Alerts, AlertTest } from "../data/Answers.ts"
import { pages } from "../routing/Paths.ts"

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

/** Whether saving it would change nothing. */
export const isStored = (draft: Draft, alerts: Alerts): boolean => {
  const textOf = ({ import_suppliers: suppliers, kinds, ...others }: ReturnType<typeof bodyOf>) =>
    JSON.stringify({
      ...others,
      kinds: kinds.toSorted(),
      suppliers: suppliers && suppliers.toSorted()
    })
  return textOf(bodyOf(draft)) === textOf(bodyOf(draftOf(alerts)))
}

/** Why no test can be sent this way now; null if one can. */
export const testHeldBy = (way: Way, draft: Draft, alerts: Alerts): string | null => {
  if (way === "email" && !alerts.sends_email) {
    return "This board is not set up to send e-mail. Ask its operator."
  }
  if (!isStored(draft, alerts)) return "Save first: a test goes where it is saved."
  return alerts[way] === null ? "Enter where to send it and save, to send a test." : null
}

/** A test that was sent from this page, as what was told is listed. */
export const toldOfTest = (way: Way, { answer, sent }: AlertTest, at: number) => ({
  way,
  title: "Test",
  reason: "You asked for it on this page.",
  path: pages.alerts,
  at: new Date(at).toISOString(),
  state: sent ? ("SENT" as const) : ("FAILED" as const),
  error: sent ? null : answer
})

/** What is missing in the form; null if it can be saved. */
export const problemOf = ({ share, suppliers }: Draft): string | null => {
  if (!/^([1-9]\d?|100)$/.test(share)) return "The percentage is a whole number from 1 to 100."
  return suppliers?.length === 0 ? "Choose a migration, or all." : null
}
