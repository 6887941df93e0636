/** The accounts that an action applies to: those that match every member. */

export interface Selection {
  readonly state?: "PENDING" | "FAILED"
  /** The code with which they failed. */
  readonly code?: string
  /** Null selects accounts without a cohort. */
  readonly cohort?: string | null
}

const kinds = { PENDING: "pending", FAILED: "failed" } as const

/** Such as `failed accounts with invalid_date of wave-1`, after a number or alone. */
export const described = ({ code, cohort, state }: Selection, isOne = false): string => {
  const kind = state === undefined ? "pending or failed" : kinds[state]
  const which = code === undefined ? "" : ` with ${code}`
  const whose = cohort === undefined ? "" : cohort === null ? " without a cohort" : ` of ${cohort}`
  return `${kind} ${isOne ? "account" : "accounts"}${which}${whose}`
}
