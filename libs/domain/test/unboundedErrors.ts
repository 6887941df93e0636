/**
 * A reference implementation that finds every error of a body: the schema decodes with all its
 * errors, each rule is applied to a partial decode whose invalid members throw, and the ranks are
 * compared member by member. Its time is unbounded. Validation must agree with it.
 */
import { Result, Schema, type SchemaIssue } from "effect"
import type { CheckMeaning } from "../src/schema/Field.ts"
import type { BrokenRule, FieldError } from "../src/schema/FieldErrors.ts"
import { isListWithinLimit, isObject, listElements, type Path } from "../src/schema/Json.ts"
import { isRawNumber } from "../src/schema/RawNumber.ts"
import { JsonObject } from "../src/schema/JsonObject.ts"
import { brokenCheck, Invalid, wrongType } from "../src/schema/PartialDecoding.ts"
import {
  type Facts,
  type Report,
  type RuleSet,
  watchingDay,
  wholePayload
} from "../src/schema/Rules.ts"
import { nearestOf, type SchemaTree, nodeAt, schemaTreeOf } from "../src/schema/SchemaTree.ts"

const mustNotBeNull = "Must not be null; omit the field instead."

const valueAt = (input: unknown, path: Path): unknown => {
  let current = input
  for (const segment of path) {
    if (typeof current !== "object" || current === null) return undefined
    current = Object.hasOwn(current, segment) ? (current as never)[segment] : undefined
  }
  return current
}

const placesIn = (issue: SchemaIssue.Issue): ReadonlyArray<Path> => {
  if (issue._tag === "Pointer") return [issue.path as Path]
  return issue._tag === "Composite" ? issue.issues.flatMap(placesIn) : [[]]
}

/** The schema's issues with the input, in codes of the contract. */
const brokenBy = (
  issue: SchemaIssue.Issue,
  tree: SchemaTree,
  input: unknown
): ReadonlyArray<BrokenRule> => {
  const collect = (part: SchemaIssue.Issue, path: Path): ReadonlyArray<BrokenRule> => {
    const value = valueAt(input, path)
    const node = nodeAt(tree, path)
    const wrong = node === undefined ? [] : [{ path, ...wrongType(node, value) }]
    switch (part._tag) {
      case "Pointer":
        return collect(part.issue, [...path, ...(part.path as Path)])
      case "Composite":
        // The schema sees a number that keeps its spelling as an object.
        if (isRawNumber(value) && nodeAt(tree, path)?._tag === "Struct") return wrong
        return part.issues.flatMap((inner) => collect(inner, path))
      case "Encoding":
        return collect(part.issue, path)
      case "MissingKey":
        return [{ path, code: "required", detail: "This field is required." }]
      case "UnexpectedKey": {
        const parent = nodeAt(tree, path.slice(0, -1))
        const names = parent?._tag === "Struct" ? parent.fields.keys() : []
        const nearest = nearestOf(names, String(path.at(-1)))
        const detail = `Not a documented field; the nearest is ${nearest}.`
        const unknown = { path, code: "unknown_field", detail } as const
        return [nearest === undefined ? unknown : { ...unknown, parameters: { nearest } }]
      }
      case "Filter": {
        if (value === null) return [{ path, code: "null", detail: mustNotBeNull }]
        const meaning = part.filter.annotations as unknown as CheckMeaning<unknown>
        const broken = brokenCheck(meaning, value)
        return placesIn(part.issue).map((inside) => ({ path: [...path, ...inside], ...broken }))
      }
      case "AnyOf": {
        const checked = part.issues.filter((inner) => inner._tag !== "InvalidType")
        if (checked.length > 0) return checked.flatMap((inner) => collect(inner, path))
        return wrong
      }
      default:
        return wrong
    }
  }
  return collect(issue, [])
}

/** The lists that are too long, and the input with an empty one in place of each. */
const withoutLongLists = (tree: SchemaTree, input: unknown) => {
  const long: Array<BrokenRule> = []
  const emptied = (at: SchemaTree, value: unknown, path: Path): unknown => {
    if (at._tag === "List" && Array.isArray(value)) {
      if (isListWithinLimit(value)) {
        return value.map((element, index) => emptied(at.element, element, [...path, index]))
      }
      const detail = `Must have at most ${listElements} elements.`
      long.push({ path, code: "max_length", detail, parameters: { limit: listElements } })
      return []
    }
    if (at._tag !== "Struct" || !isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const field = at.fields.get(name)
        return [name, field ? emptied(field.node, member, [...path, name]) : member]
      })
    )
  }
  return { emptied: emptied(tree, input, []), long }
}

const decodeFree = Schema.decodeUnknownResult(Schema.NullOr(JsonObject))

const partialOf = (tree: SchemaTree, input: unknown): unknown => {
  if (tree._tag === "Free" || tree._tag === "Leaf") {
    const decoded = tree._tag === "Leaf" ? tree.decode(input) : decodeFree(input)
    if (Result.isFailure(decoded)) throw new Invalid()
    return decoded.success
  }
  const lazily = (target: object, key: string | number, get: () => unknown) =>
    Object.defineProperty(target, key, { enumerable: true, configurable: true, get })
  if (tree._tag === "List") {
    if (!isListWithinLimit(input)) throw new Invalid()
    const partial: Array<unknown> = []
    input.forEach((element, index) =>
      lazily(partial, index, () => partialOf(tree.element, element))
    )
    return partial
  }
  if (!isObject(input)) throw new Invalid()
  const partial = {}
  for (const [name, field] of tree.fields) {
    if (!Object.hasOwn(input, name) && field.optional) continue
    lazily(partial, name, () => {
      if (!Object.hasOwn(input, name)) throw new Invalid()
      return partialOf(field.node, input[name])
    })
  }
  return partial
}

const unlessInvalid = (check: () => void): void => {
  try {
    check()
  } catch (thrown) {
    if (!(thrown instanceof Invalid)) throw thrown
  }
}

const brokenRules = (
  ruleSet: RuleSet<unknown>,
  partial: unknown,
  facts: Facts,
  root: Path
): ReadonlyArray<BrokenRule> => {
  const broken: Array<BrokenRule> = []
  const watched = watchingDay(facts)
  const apply = (set: RuleSet<unknown>, value: unknown, path: Path): void => {
    const report: Report = (code, explanation, ...at) => {
      const isWhole = at.length === 0 && path.length === root.length
      const explained = typeof explanation === "string" ? { detail: explanation } : explanation
      const { parameters } = explained
      broken.push({
        code,
        ...explained,
        ...(watched.isDayRead && { parameters: { ...parameters, business_day: facts.today } }),
        path: isWhole ? [...path, wholePayload] : [...path, ...at]
      })
    }
    for (const rule of set.rules) {
      watched.isDayRead = false
      unlessInvalid(() => rule(value, watched, report))
    }
    for (const [name, inner] of Object.entries<RuleSet<unknown>>(set.members ?? {})) {
      unlessInvalid(() => {
        const member: unknown = (value as never)[name]
        if (member === undefined || member === null) return
        if (!Array.isArray(member)) return apply(inner, member, [...path, name])
        for (let index = 0; index < member.length; index++) {
          unlessInvalid(() => apply(inner, member[index], [...path, name, index]))
        }
      })
    }
  }
  apply(ruleSet, partial, [])
  return broken
}

const rankOf = (
  tree: SchemaTree,
  input: unknown,
  root: Path,
  path: Path
): ReadonlyArray<number> => {
  if (path.length === root.length + 1 && path.at(-1) === wholePayload) return [Infinity]
  return path.map((segment, depth) => {
    if (typeof segment === "number") return segment
    const parent = valueAt(input, path.slice(0, depth))
    const sent = isObject(parent) ? Object.keys(parent).indexOf(segment) : -1
    if (sent >= 0) return sent
    const at = nodeAt(tree, path.slice(0, depth))
    return 1e9 + (at?._tag === "Struct" ? [...at.fields.keys()].indexOf(segment) : 0)
  })
}

const compareRanks = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  for (let depth = 0; depth < Math.min(a.length, b.length); depth++) {
    const [one = 0, other = 0] = [a[depth], b[depth]]
    if (one !== other) return one < other ? -1 : 1
  }
  return b.length - a.length
}

const trees = new WeakMap<object, SchemaTree>()

/** Cached, because making the tree takes as long as the rest for a small body. */
const knownTreeOf = (schema: Schema.Constraint): SchemaTree => {
  const known = trees.get(schema) ?? schemaTreeOf(schema)
  trees.set(schema, known)
  return known
}

/** Finds every error of a body of the schema, in payload order. */
export const unboundedErrors = <Body>(
  schema: Schema.Codec<Body, unknown>,
  ruleSet: RuleSet<Body>,
  input: unknown,
  facts: Facts,
  root: Path = []
): ReadonlyArray<FieldError> => {
  const tree = knownTreeOf(schema)
  const { emptied, long } = withoutLongLists(tree, input)
  const options = { errors: "all", onExcessProperty: "error" } as const
  const decoded = Schema.decodeUnknownResult(schema, options)(emptied)
  const broken = Result.isFailure(decoded) ? brokenBy(decoded.failure.issue, tree, input) : []
  const ruled = isObject(input)
    ? brokenRules(ruleSet as RuleSet<unknown>, partialOf(tree, input), facts, root)
    : []
  return [...broken, ...long, ...ruled]
    .map((rule) => ({ rule, rank: rankOf(tree, input, root, rule.path) }))
    .sort((a, b) => compareRanks(a.rank, b.rank))
    .map(({ rule: { path, ...broken } }) => {
      const isInPayload = path.length > root.length && root.every((name, at) => path[at] === name)
      const inside = path.length === 0 ? root : path.slice(isInPayload ? root.length : 0)
      return { attr: inside.length === 0 ? wholePayload : inside.join("."), ...broken }
    })
}
