/**
 * From an unknown body to a valid value or to every fault in it. Decodes by schema, applies the
 * rules, also to the sound parts of an unsound body, and reports all that is broken in payload
 * order. Source: decisions, "Errors", "Where errors point", "Order and completeness".
 */
import { Result, Schema, type SchemaIssue } from "effect"
import type { FieldCode } from "./Code.ts"
import type { Fault } from "./Failure.ts"
import { listElements } from "./Field.ts"
import { isRawNumber } from "./Json.ts"
import { readerOf, unsound } from "./Reader.ts"
import { applyRules, type BrokenRule, type Facts, type RuleSet, wholePayload } from "./Rules.ts"
import {
  draftOf,
  isObject,
  nearestField,
  type Path,
  type Shape,
  shapeOf,
  walk,
  withoutLongLists
} from "./Shape.ts"

type Outcome<A> = Result.Result<A, ReadonlyArray<Fault>>

export interface Validator<A> {
  readonly validate: (input: unknown, facts: Facts) => Outcome<A>
  readonly shape: Shape
}

interface Options<Body, Wrapper extends keyof Body | null> {
  readonly schema: Schema.Codec<Body, unknown>
  readonly rules: RuleSet<NoInfer<Wrapper extends keyof Body ? Body[Wrapper] : Body>>
  /** The field of the body that holds the payload; its name is no part of an `attr`. */
  readonly wrapper: Wrapper
}

const everyFault = { errors: "all", onExcessProperty: "error" } as const

/**
 * Makes the validator of one kind of body. With a `wrapper`, the rules apply to the payload in it.
 */
export const validator = <Body, const Wrapper extends (keyof Body & string) | null>(
  options: Options<Body, Wrapper>
): Validator<Body> => {
  const { rules, schema, wrapper } = options
  const shape = shapeOf(schema)
  // Most bodies are sound, and to collect faults takes many times as long as to find none.
  const read = readerOf(schema)
  const decode = Schema.decodeUnknownResult(schema, everyFault)
  const root: Path = wrapper === null ? [] : [wrapper]
  const payloadRules = (wrapper === null
    ? rules
    : { rules: [], members: { [wrapper]: rules } }) as unknown as RuleSet<Body>

  const faultsOf = (input: unknown, broken: ReadonlyArray<BrokenRule>): ReadonlyArray<Fault> =>
    inPayloadOrder(shape, input, broken, root).map(({ code, detail, path }) => ({
      attr: attrOf(path, root),
      code,
      detail
    }))

  const examineSound = (body: Body, input: unknown, facts: Facts): Outcome<Body> => {
    const broken = applyRules(payloadRules, body, facts, root)
    return broken.length === 0 ? Result.succeed(body) : Result.fail(faultsOf(input, broken))
  }

  const examineUnsound = (
    input: unknown,
    broken: ReadonlyArray<BrokenRule>,
    facts: Facts
  ): ReadonlyArray<Fault> => {
    const draft = isObject(input) ? (draftOf(shape, input) as Body) : null
    const rulesBroken = draft === null ? [] : applyRules(payloadRules, draft, facts, root)
    return faultsOf(input, [...broken, ...rulesBroken])
  }

  return {
    shape,
    validate: (input, facts) => {
      const sound = read(input)
      if (sound !== unsound) return examineSound(sound as Body, input, facts)
      const long = longLists(shape, input)
      const decoded = decode(long.length === 0 ? input : withoutLongLists(shape, input))
      if (Result.isSuccess(decoded) && long.length === 0) {
        return examineSound(decoded.success, input, facts)
      }
      const broken = Result.isFailure(decoded)
        ? brokenBy(decoded.failure.issue, shape, input, wrapper)
        : []
      return Result.fail(examineUnsound(input, [...broken, ...long], facts))
    }
  }
}

const longLists = (shape: Shape, input: unknown): ReadonlyArray<BrokenRule> => {
  const long: Array<BrokenRule> = []
  walk(shape, input, (at, value, path) => {
    if (at._tag !== "List" || !Array.isArray(value) || value.length <= listElements) return
    const detail = `Must have at most ${listElements} elements.`
    long.push({ path, code: "max_length", detail })
  })
  return long
}

/** The leaves of a schema issue, each as what it breaks, where. */
const brokenBy = (
  issue: SchemaIssue.Issue,
  shape: Shape,
  input: unknown,
  wrapper: string | null
): ReadonlyArray<BrokenRule> => {
  const broken: Array<BrokenRule> = []
  let unknownFields = 0
  const add = (path: Path, code: FieldCode, detail: string) => broken.push({ path, code, detail })
  const addWrongType = (path: Path): void => {
    const at = path.length === 0 && wrapper !== null ? [wrapper] : path
    broken.push({ path: at, ...wrongType(shapeAt(shape, path), valueAt(input, path)) })
  }

  const collect = (part: SchemaIssue.Issue, path: Path): void => {
    switch (part._tag) {
      case "Pointer":
        return collect(part.issue, [...path, ...(part.path as Path)])
      case "Composite":
        // To the schema a number that keeps its spelling is an object.
        if (isRawNumber(valueAt(input, path)) && shapeAt(shape, path)?._tag === "Struct") {
          return addWrongType(path)
        }
        return part.issues.forEach((inner) => collect(inner, path))
      case "Encoding":
        return collect(part.issue, path)
      case "MissingKey":
        return void add(path, "required", "This field is required.")
      case "UnexpectedKey":
        unknownFields++
        return void add(path, "unknown_field", unknownField(shape, path, unknownFields))
      case "Filter": {
        if (valueAt(input, path) === null) return void add(path, "null", mustNotBeNull)
        const { code, detail } = part.filter.annotations as { code: FieldCode; detail: string }
        return placesIn(part.issue).forEach((inside) => add([...path, ...inside], code, detail))
      }
      case "AnyOf": {
        const checked = part.issues.filter((inner) => inner._tag !== "InvalidType")
        if (checked.length > 0) return checked.forEach((inner) => collect(inner, path))
        return void add(path, "invalid_type", "Must be of another type.")
      }
      default:
        return addWrongType(path)
    }
  }

  collect(issue, [])
  return broken
}

/** Where inside the checked value a check failed; usually the value itself. */
const placesIn = (issue: SchemaIssue.Issue): ReadonlyArray<Path> => {
  if (issue._tag === "Pointer") return [issue.path as Path]
  return issue._tag === "Composite" ? issue.issues.flatMap(placesIn) : [[]]
}

const mustNotBeNull = "Must not be null; omit the field instead."

const wrongType = (
  shape: Shape | undefined,
  value: unknown
): { readonly code: FieldCode; readonly detail: string } => {
  if (value === null) return { code: "null", detail: mustNotBeNull }
  if (shape?._tag === "List") return { code: "not_a_list", detail: "Must be a list." }
  if (shape?._tag === "Struct") return { code: "not_an_object", detail: "Must be an object." }
  const sent = Array.isArray(value)
    ? "a list"
    : isRawNumber(value)
      ? "a number"
      : `a value of type ${typeof value}`
  return { code: "invalid_type", detail: `Must be of another type than ${sent}.` }
}

/**
 * A body made of a million undocumented fields is not worth comparing each with every documented
 * one.
 */
const suggestions = 1_000

const unknownField = (shape: Shape, path: Path, nth: number): string => {
  const parent = shapeAt(shape, path.slice(0, -1))
  if (parent?._tag !== "Struct" || nth > suggestions) return "Not a documented field."
  return `Not a documented field; the nearest is ${nearestField(parent, String(path.at(-1)))}.`
}

const shapeAt = (shape: Shape, path: Path): Shape | undefined => {
  let current: Shape | undefined = shape
  for (const segment of path) {
    if (current?._tag === "Struct") current = current.fields.get(String(segment))?.shape
    else if (current?._tag === "List") current = current.element
    else return undefined
  }
  return current
}

const valueAt = (input: unknown, path: Path): unknown => {
  let current = input
  for (const segment of path) {
    if (typeof current !== "object" || current === null) return undefined
    current = Object.hasOwn(current, segment) ? (current as never)[segment] : undefined
  }
  return current
}

const attrOf = (path: Path, root: Path): string => {
  if (path.length === 0) return wholePayload
  const isInPayload = path.length > root.length && root.every((name, depth) => path[depth] === name)
  return path.slice(isInPayload ? root.length : 0).join(".")
}

/**
 * Members in the order in which the body sends them, then missing ones in the order of the schema;
 * a fault of a whole object after those of its members; faults of the whole payload last.
 */
const inPayloadOrder = (
  shape: Shape,
  input: unknown,
  broken: ReadonlyArray<BrokenRule>,
  root: Path
): ReadonlyArray<BrokenRule> => {
  const positions = new Map<object, ReadonlyMap<string, number>>()
  const positionIn = (value: object, name: string): number | undefined => {
    let known = positions.get(value)
    if (known === undefined) {
      known = new Map(Object.keys(value).map((key, index) => [key, index]))
      positions.set(value, known)
    }
    return known.get(name)
  }
  const rankOf = (path: Path): ReadonlyArray<number> => {
    const isWhole = path.length === root.length + 1 && path.at(-1) === wholePayload
    if (isWhole) return [Number.MAX_SAFE_INTEGER]
    return path.map((segment, depth) => {
      if (typeof segment === "number") return segment
      const parent = valueAt(input, path.slice(0, depth))
      const sent = isObject(parent) ? positionIn(parent, segment) : undefined
      if (sent !== undefined) return sent
      const parentShape = shapeAt(shape, path.slice(0, depth))
      const names = parentShape?._tag === "Struct" ? [...parentShape.fields.keys()] : []
      return listElements * listElements + names.indexOf(segment)
    })
  }
  return broken
    .map((rule) => ({ rule, rank: rankOf(rule.path) }))
    .sort((a, b) => compareRanks(a.rank, b.rank))
    .map(({ rule }) => rule)
}

const compareRanks = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  const shared = Math.min(a.length, b.length)
  for (let depth = 0; depth < shared; depth++) {
    const difference = (a[depth] ?? 0) - (b[depth] ?? 0)
    if (difference !== 0) return difference
  }
  return b.length - a.length
}
