/**
 * Rules beyond single fields: sums, dates against each other, duplicates, and rules that depend on
 * the day or the operator's configuration. A rule is written for a valid value. On a partly invalid
 * one, it is skipped if it reads an invalid part.
 */
import type { DateTime } from "effect"
import type { CodeLists } from "./CodeLists.ts"
import type { FieldCode } from "../codes/Code.ts"
import type { CalendarDate } from "./Field.ts"
import type { Broken, FieldErrors } from "./FieldErrors.ts"
import { Invalid } from "./PartialDecoding.ts"
import type { Path } from "./Json.ts"
import type { Steps } from "../support/Steps.ts"

/** The facts beyond the payload that a rule may use. */
export interface Facts {
  readonly now: DateTime.Utc
  /** The business day of `now` in the supplier's time zone. */
  readonly today: CalendarDate
  readonly codeLists: CodeLists
  /** Whether the supplier exists and belongs to the caller's organisation. */
  readonly supplierExists: boolean
  /** The normalised document paths of the payload without a file in the store. */
  readonly missingDocuments: ReadonlySet<string>
}

/** Reports an error at the member `at` of the value, or at the value itself. */
export type Report = (
  code: FieldCode,
  explanation: Explanation,
  ...at: ReadonlyArray<string | number>
) => void

/** The detail of an error, with or without parameters. */
export type Explanation = string | Omit<Broken, "code">

export type Rule<A> = (value: A, facts: Facts, report: Report) => void

type Member<A> = NonNullable<A> extends ReadonlyArray<infer Element> ? Element : NonNullable<A>

/**
 * The rules of a value and, by name, of its members. For a list member, they are the rules of its
 * elements.
 */
export interface RuleSet<A> {
  readonly rules: ReadonlyArray<Rule<A>>
  readonly members?: { readonly [Key in keyof A]?: RuleSet<Member<A[Key]>> }
}

/** The path of errors about the whole payload. */
export const wholePayload = "non_field_errors"

/** Rules in the form in which they are applied. */
export interface CompiledRules {
  readonly rules: RuleSet<unknown>["rules"]
  /** By name, in reverse order. */
  readonly members: ReadonlyArray<readonly [name: string, rules: CompiledRules]>
}

export const compileRules = <A>(ruleSet: RuleSet<A>): CompiledRules => {
  const { members = {}, rules } = ruleSet as RuleSet<unknown>
  const sets: ReadonlyArray<[string, RuleSet<unknown>]> = Object.entries(members)
  const compiled = sets.map(([name, set]) => [name, compileRules(set)] as const)
  return { rules, members: compiled.reverse() }
}

/** A value whose rules have not been applied yet, with its path. */
interface Task {
  readonly set: CompiledRules
  readonly value: unknown
  readonly at: string | number
  readonly within: Task | null
}

const pathOf = ({ at, within }: Task): Path => (within === null ? [] : [...pathOf(within), at])

/** The member, or undefined if it is invalid. */
const memberOf = (value: unknown, at: string | number): unknown => {
  try {
    return (value as never)[at]
  } catch (thrown) {
    return skipInvalid(thrown)
  }
}

/**
 * The facts, which note that a rule reads the day. Its errors then have the day as a parameter, so
 * that no such rule can omit it.
 */
const watchingDay = (facts: Facts): Facts & { isDayRead: boolean } => ({
  ...facts,
  isDayRead: false,
  get today() {
    this.isDayRead = true
    return facts.today
  }
})

/** Rules between two pauses. */
const rulesPerYield = 128

/**
 * Applies every rule to a valid body or a partially decoded one; `root` is the payload's path.
 * Stops once more errors are found than can be listed.
 */
export function* applyRulesInSteps(
  set: CompiledRules,
  body: unknown,
  facts: Facts,
  root: Path,
  fieldErrors: FieldErrors
): Steps<void> {
  let task: Task | undefined = { set, value: body, at: "body", within: null }
  const open: Array<Task> = []
  const enter = (set: CompiledRules, at: string | number, within: Task): void => {
    const value = memberOf(within.value, at)
    if (value !== undefined && value !== null) open.push({ set, value, at, within })
  }
  const watched = watchingDay(facts)
  const report: Report = (code, explanation, ...at) => {
    const path = pathOf(task as Task)
    const isWhole = at.length === 0 && path.length === root.length
    const explained = typeof explanation === "string" ? { detail: explanation } : explanation
    const { parameters } = explained
    fieldErrors.add({
      code,
      ...explained,
      ...(watched.isDayRead && { parameters: { ...parameters, business_day: facts.today } }),
      path: isWhole ? [...path, wholePayload] : [...path, ...at]
    })
  }
  let applied = 0
  for (; task !== undefined && !fieldErrors.areMore; task = open.pop()) {
    const { set, value }: Task = task
    if (Array.isArray(value)) {
      // The stack is last in, first out.
      for (let at = value.length - 1; at >= 0; at--) enter(set, at, task)
      continue
    }
    for (const rule of set.rules) {
      watched.isDayRead = false
      try {
        rule(value, watched, report)
      } catch (thrown) {
        skipInvalid(thrown)
      }
    }
    for (const [name, ofMember] of set.members) enter(ofMember, name, task)
    applied += set.rules.length
    if (applied < rulesPerYield) continue
    applied = 0
    yield
  }
}

const skipInvalid = (thrown: unknown): void => {
  if (!(thrown instanceof Invalid)) throw thrown
}

/** Calls `check` for every element, and skips those with an invalid part that `check` reads. */
export const eachValid = <A>(
  list: ReadonlyArray<A>,
  check: (element: A, index: number) => void
): void => {
  for (let index = 0; index < list.length; index++) {
    try {
      check(list[index] as A, index)
    } catch (thrown) {
      skipInvalid(thrown)
    }
  }
}

/** The results of `read` for all elements that it can read. */
export const validValues = <A, B>(
  list: ReadonlyArray<A>,
  read: (element: A) => B
): ReadonlyArray<B> => {
  const values: Array<B> = []
  eachValid(list, (element) => values.push(read(element)))
  return values
}

/**
 * The supplier of a request must exist and belong to the caller's organisation. The error is the
 * same for both. Its detail omits the code, so that all such errors are identical.
 */
export const supplierExists: Rule<{ readonly import_supplier: string }> = (
  request,
  facts,
  report
) => {
  // Reading an invalid member skips the rule.
  if (request.import_supplier !== undefined && !facts.supplierExists) {
    const detail = "There is no such import supplier."
    report("import_supplier_does_not_exist", detail, "import_supplier")
  }
}

export const mustBeAmong = (allowed: ReadonlyArray<string>) => ({
  detail: `Must be one of ${allowed.join(", ")}.`,
  parameters: { allowed }
})

/** Reports `invalid_choice` at `field` for a value outside the allowed and the added ones. */
export const isAmong = (
  [allowed, added = []]: readonly [
    allowed: ReadonlyArray<string>,
    added?: ReadonlyArray<string> | undefined
  ],
  value: string,
  field: string,
  report: Report
): void => {
  if (!allowed.includes(value) && !added.includes(value)) {
    report("invalid_choice", mustBeAmong([...allowed, ...added]), field)
  }
}

/** The repeated values, each once, in the order of their repetition. */
export const repeated = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> => {
  if (values.length < 2) return []
  const seen = new Set<A>()
  const twice = new Set<A>()
  for (const value of values) {
    if (seen.has(value)) twice.add(value)
    seen.add(value)
  }
  return [...twice]
}

/** How many values an error names. */
export const namedValues = 10

/** The first of the values, and how many more there are. */
export const listed = (values: ReadonlyArray<number | string>): string => {
  const others = values.length - namedValues
  const more = others > 0 ? ` and ${others} more` : ""
  return `${values.slice(0, namedValues).join(", ")}${more}`
}

/** The explanation of repeated values. */
export const sentTwice = (values: ReadonlyArray<string>) => ({
  detail: `Sent more than once: ${listed(values)}.`,
  parameters: { ids: values.slice(0, namedValues) }
})
