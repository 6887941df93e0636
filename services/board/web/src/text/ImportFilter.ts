/** What a list of accounts is filtered by, as its address has it. */

/** Filters that only links set; the form keeps them. */
export const kept = ["attr", "ledger", "money", "move", "first_problems"] as const

const own = ["state", "code", "cohort", "without_cohort", "corrected", "search"] as const

export const filters = [...own, ...kept] as const

export type Filter = Readonly<Record<(typeof filters)[number], string | null>>

export const filterOf = (query: URLSearchParams): Filter =>
  Object.fromEntries(filters.map((name) => [name, query.get(name)])) as Filter
