/**
 * The order of errors in a response: members in the order of the body, then missing ones in the
 * order of the schema. An error of a whole object comes after those of its members, and errors of
 * the whole payload come last.
 * Source: docs/contract/errors.md#order-of-errors.
 */
import type { BrokenRule } from "./FieldErrors.ts"
import { isObject, listElements } from "./Json.ts"
import { wholePayload } from "./Rules.ts"
import type { Path } from "./Json.ts"
import { type SchemaTree, nodeAt } from "./SchemaTree.ts"
import type { Steps } from "../support/Steps.ts"

/** Larger than the index of any member in a body. */
const afterAllSent = listElements * listElements

type Rank = ReadonlyArray<number>

class Ranking {
  readonly #tree: SchemaTree
  readonly #input: unknown
  readonly #root: Path
  readonly #positions = new Map<object, ReadonlyMap<string, number>>()

  constructor(tree: SchemaTree, input: unknown, root: Path) {
    this.#tree = tree
    this.#input = input
    this.#root = root
  }

  rankOf(path: Path): Rank {
    const isWhole = path.length === this.#root.length + 1 && path.at(-1) === wholePayload
    if (isWhole) return [Number.MAX_SAFE_INTEGER]
    let parent = this.#input
    return path.map((segment, depth) => {
      const position =
        typeof segment === "number" ? segment : this.#positionIn(parent, segment, path, depth)
      parent = memberOf(parent, segment)
      return position
    })
  }

  #positionIn(parent: unknown, name: string, path: Path, depth: number): number {
    const sent = isObject(parent) ? this.#positionsIn(parent).get(name) : undefined
    if (sent !== undefined) return sent
    const node = nodeAt(this.#tree, path.slice(0, depth))
    const names = node?._tag === "Struct" ? [...node.fields.keys()] : []
    return afterAllSent + names.indexOf(name)
  }

  #positionsIn(value: object): ReadonlyMap<string, number> {
    const known =
      this.#positions.get(value) ??
      new Map(Object.keys(value).map((key, index) => [key, index] as const))
    this.#positions.set(value, known)
    return known
  }
}

const memberOf = (value: unknown, segment: string | number): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, segment)
    ? (value as never)[segment]
    : undefined

const compareRanks = (a: Rank, b: Rank): number => {
  const shared = Math.min(a.length, b.length)
  for (let depth = 0; depth < shared; depth++) {
    const difference = (a[depth] ?? 0) - (b[depth] ?? 0)
    if (difference !== 0) return difference
  }
  return b.length - a.length
}

/** The errors in the order of the response; `root` is the payload's path. */
export function* inPayloadOrder(
  tree: SchemaTree,
  input: unknown,
  broken: ReadonlyArray<BrokenRule>,
  root: Path
): Steps<ReadonlyArray<BrokenRule>> {
  const ranking = new Ranking(tree, input, root)
  const ranked: Array<{ readonly rule: BrokenRule; readonly rank: Rank }> = []
  for (const rule of broken) {
    // The positions of an object's members are computed on first use.
    yield
    ranked.push({ rule, rank: ranking.rankOf(rule.path) })
  }
  return ranked.sort((a, b) => compareRanks(a.rank, b.rank)).map(({ rule }) => rule)
}
