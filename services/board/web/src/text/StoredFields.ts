/** The stored fields of an account, each with its path, such as `customers.0.email`. */
import type { Account } from "../data/Answers.ts"

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

export const flattened = (value: unknown, path = ""): ReadonlyArray<readonly [string, string]> => {
  if (!isObject(value)) return [[path, typeof value === "string" ? value : JSON.stringify(value)]]
  const members = Object.entries(value)
  if (members.length === 0) return [[path, Array.isArray(value) ? "[]" : "{}"]]
  return members.flatMap(([name, member]) =>
    flattened(member, path === "" ? name : `${path}.${name}`)
  )
}

export interface StoredField {
  readonly path: string
  /** Null if it is missing. */
  readonly value: string | null
  readonly isFailing: boolean
}

/** Those with an error come first. An error may be at a field that is missing, or at all of a list. */
export const storedFields = (
  stored: unknown,
  failing: ReadonlySet<string>
): ReadonlyArray<StoredField> => {
  const isIn = (at: string) => (path: string) => path === at || path.startsWith(`${at}.`)
  const lines = flattened(stored)
  const fields = lines.map(([path, value]): StoredField => ({
    path,
    value,
    isFailing: [...failing].some((at) => isIn(at)(path))
  }))
  const missing = [...failing].filter((at) => !lines.some(([path]) => isIn(at)(path)))
  return [
    ...fields.filter(({ isFailing }) => isFailing),
    ...missing.map((path): StoredField => ({ path, value: null, isFailing: true })),
    ...fields.filter(({ isFailing }) => !isFailing)
  ]
}

/** The fields that wait for a correction: those of the latest attempt, unless it was staged since. */
export const failingFields = ({
  attempts,
  state
}: Pick<Account, "attempts" | "state">): ReadonlySet<string> => {
  const latest = state === "FAILED" ? attempts.find(({ dry_run }) => !dry_run) : undefined
  return new Set(latest?.errors.map(({ attr }) => attr))
}

/** The id of a field on the page, for links to it. */
export const fieldId = (path: string): string => `field-${path}`
