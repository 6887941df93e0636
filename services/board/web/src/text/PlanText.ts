/** A plan as text, one line for each day, such as `2026-12-01 10000`, and where it ends. */
import type { Plan } from "../data/Answers.ts"
import { date } from "./Times.ts"

interface Parsed {
  readonly plan: Plan
  /** What is wrong with the first invalid line; null if all are valid. */
  readonly problem: string | null
}

const form = /^(\d{4}-\d{2}-\d{2})[\s,;]+([\d,.' ]+)$/

const isDate = (on: string): boolean => {
  const at = Date.parse(`${on}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(on)
}

export const planText = (plan: Plan | null): string =>
  (plan?.points ?? []).map(({ accounts, on }) => `${on} ${accounts}`).join("\n")

/** Says when the plan ends. */
export const planEnd = (plan: Plan | null): string => {
  const last = plan?.points.at(-1)
  if (last === undefined) return "There is no plan to compare it with."
  const on = date(Date.parse(`${last.on}T00:00:00Z`), "UTC")
  return `By its plan it is done at the end of ${on}.`
}

export const parsePlan = (text: string): Parsed => {
  const points: Array<Plan["points"][number]> = []
  const stop = (line: number, why: string) => ({
    plan: { points },
    problem: `Line ${line}: ${why}`
  })
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue
    const [, on = "", digits = ""] = form.exec(line.trim()) ?? []
    const accounts = Number(digits.replace(/[,.' ]/g, ""))
    if (on === "") return stop(index + 1, "write a date and a number, such as 2026-12-01 10000.")
    if (!isDate(on)) return stop(index + 1, `${on} is not a day.`)
    const before = points.at(-1)
    if (before !== undefined && on <= before.on)
      return stop(index + 1, `it must be after ${before.on}.`)
    if (before !== undefined && accounts < before.accounts) {
      return stop(index + 1, `the accounts become fewer than the ${before.accounts} before.`)
    }
    points.push({ on, accounts })
  }
  return { plan: { points }, problem: null }
}
