/**
 * Rules that no single field can break: sums, dates against each other, duplicates, and whatever
 * depends on the day or on what the operator set up. A rule is written for a valid value. Applied
 * to an unsound one, it is skipped as soon as it reads something that is itself invalid, and only
 * then.
 */
import type { DateTime } from "effect"
import type { Choices } from "./Choices.ts"
import type { FieldCode } from "./Code.ts"
import type { CalendarDate } from "./Field.ts"
import { type Path, Unsound } from "./Shape.ts"

/** What a rule may know beyond the payload. */
export interface Facts {
  readonly now: DateTime.Utc
  /** The business day: the day of `now` in the supplier's time zone. */
  readonly today: CalendarDate
  readonly choices: Choices
  /** Whether the supplier exists and is the caller's. */
  readonly supplierExists: boolean
  /** Document paths of the payload, normalised, at which the store has no file. */
  readonly missingDocuments: ReadonlySet<string>
}

/** Reports a broken rule: at the member `at` of the value, or at the value as a whole. */
export type Report = (
  code: FieldCode,
  detail: string,
  ...at: ReadonlyArray<string | number>
) => void

export type Rule<A> = (value: A, facts: Facts, report: Report) => void

type Member<A> = NonNullable<A> extends ReadonlyArray<infer Element> ? Element : NonNullable<A>

/**
 * The rules of a value and, by name, of its members; those of a list member are its elements'
 * rules.
 */
export interface RuleSet<A> {
  readonly rules: ReadonlyArray<Rule<A>>
  readonly members?: { readonly [Key in keyof A]?: RuleSet<Member<A[Key]>> }
}

export interface BrokenRule {
  readonly path: Path
  readonly code: FieldCode
  readonly detail: string
}

/** Where a rule about the whole payload is reported. */
export const wholePayload = "non_field_errors"

/**
 * Applies every rule to a valid body or a draft of an unsound one; `root` is the payload's path.
 */
export const applyRules = <A>(
  ruleSet: RuleSet<A>,
  value: A,
  facts: Facts,
  root: Path
): ReadonlyArray<BrokenRule> => {
  const broken: Array<BrokenRule> = []
  const path: Array<string | number> = []

  const apply = (set: RuleSet<unknown>, current: unknown): void => {
    const report: Report = (code, detail, ...at) => {
      const whole = at.length === 0 && path.length === root.length
      broken.push({ code, detail, path: whole ? [...path, wholePayload] : [...path, ...at] })
    }
    for (const rule of set.rules) {
      try {
        rule(current, facts, report)
      } catch (thrown) {
        skipUnsound(thrown)
      }
    }
    const members = set.members as Readonly<Record<string, RuleSet<unknown>>> | undefined
    for (const name in members) {
      path.push(name)
      applyToMember(members[name] as RuleSet<unknown>, current, name)
      path.pop()
    }
  }

  const applyToMember = (set: RuleSet<unknown>, parent: unknown, name: string | number): void => {
    try {
      const member: unknown = (parent as never)[name]
      if (member === undefined || member === null) return
      if (!Array.isArray(member)) return apply(set, member)
      for (let index = 0; index < member.length; index++) {
        path.push(index)
        applyToMember(set, member, index)
        path.pop()
      }
    } catch (thrown) {
      skipUnsound(thrown)
    }
  }

  apply(ruleSet as RuleSet<unknown>, value)
  return broken
}

const skipUnsound = (thrown: unknown): void => {
  if (!(thrown instanceof Unsound)) throw thrown
}

/** Calls `examine` for every element that is sound as far as `examine` reads it. */
export const eachSound = <A>(
  list: ReadonlyArray<A>,
  examine: (element: A, index: number) => void
): void => {
  for (let index = 0; index < list.length; index++) {
    try {
      examine(list[index] as A, index)
    } catch (thrown) {
      skipUnsound(thrown)
    }
  }
}

/** What `read` gives for every element for which it can be read. */
export const soundValues = <A, B>(
  list: ReadonlyArray<A>,
  read: (element: A) => B
): ReadonlyArray<B> => {
  const values: Array<B> = []
  eachSound(list, (element) => values.push(read(element)))
  return values
}

/**
 * The supplier that a request names exists and is the caller's: the two are never told apart. The
 * detail leaves the code out, so that all such answers are the same to the byte.
 */
export const supplierExists: Rule<{ readonly import_supplier: string }> = (
  request,
  facts,
  report
) => {
  // Read for its own sake: where it is itself invalid, the rule is skipped.
  if (request.import_supplier !== undefined && !facts.supplierExists) {
    const detail = "There is no such import supplier."
    report("import_supplier_does_not_exist", detail, "import_supplier")
  }
}

/** Reports `invalid_choice` at `field` for a value that is not among the allowed ones. */
export const isAmong = (
  allowed: ReadonlyArray<string>,
  value: string,
  field: string,
  report: Report
): void => {
  if (!allowed.includes(value)) {
    report("invalid_choice", `Must be one of ${allowed.join(", ")}.`, field)
  }
}

/** The values that stand more than once, each once, in the order of their repetition. */
export const repeated = <A>(values: Iterable<A>): ReadonlyArray<A> => {
  const seen = new Set<A>()
  const twice = new Set<A>()
  for (const value of values) {
    if (seen.has(value)) twice.add(value)
    seen.add(value)
  }
  return [...twice]
}
