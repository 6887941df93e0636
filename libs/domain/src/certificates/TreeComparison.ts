/**
 * Finds the accounts in which the tree of a certificate differs from that of a book. It compares
 * nodes from the top down, and asks only for those below a node that differs. Nodes are matched by
 * the numbers of their first accounts, so that one missing account does not shift the others.
 * Source: docs/contract/certificates.md#comparing.
 */
import { Effect } from "effect"
import type { Hashing } from "../requests/Hashing.ts"
import { compareCodePoints } from "../support/CodePoints.ts"
import { hexOf } from "../support/Hexadecimal.ts"
import type { NodeRange, TreeNode } from "./CertificateTrees.ts"
import type { SortedTree } from "./LocalTree.ts"

/** `local` is in the book only, `certified` in the certificate only, `both` differs. */
export interface DifferingAccount {
  readonly number: string
  readonly side: "both" | "certified" | "local"
}

export interface TreeComparison {
  /** In the order of their numbers. */
  readonly accounts: ReadonlyArray<DifferingAccount>
  /** Certified accounts that were erased since, and are not in the book. They have no number. */
  readonly erased: number
}

/** A level is asked for in steps of so many nodes below one. */
const stepLevels = 8
const stepNodes = 2 ** stepLevels

/** The nodes that one request asks for at most. */
const nodesAtOnce = 3 * stepNodes

interface Asking<E, R> {
  readonly hashing: Pick<Hashing["Service"], "digest">
  readonly tree: SortedTree
  readonly nodes: (range: NodeRange) => Effect.Effect<ReadonlyArray<TreeNode>, E, R>
}

/** Nodes that follow one another, and the accounts of the book that belong to them. */
interface Stretch {
  readonly nodes: ReadonlyArray<TreeNode>
  readonly start: number
  readonly end: number
}

/** A stretch of each node. One whose first account was erased has no known start of its own. */
const stretchesOf = (tree: SortedTree, { end, nodes, start }: Stretch): ReadonlyArray<Stretch> => {
  const bounds = nodes.flatMap(({ first }, at) =>
    at === 0 ? [{ at, from: start }] : first === null ? [] : [{ at, from: tree.indexOf(first) }]
  )
  return bounds.map(({ at, from }, index) => {
    const next = bounds[index + 1]
    return { nodes: nodes.slice(at, next?.at), start: from, end: next?.from ?? end }
  })
}

const isEqual = <E, R>({ hashing, tree }: Asking<E, R>, { end, nodes, start }: Stretch): boolean =>
  nodes.length === 1 && nodes[0]?.hash === hexOf(tree.hash(hashing, start, end))

/** Compares leaves one by one. */
const compareLeaves = (tree: SortedTree, { end, nodes, start }: Stretch): TreeComparison => {
  const known = new Map(nodes.flatMap(({ first, hash }) => (first === null ? [] : [[first, hash]])))
  const erased = new Set(nodes.flatMap(({ first, hash }) => (first === null ? [hash] : [])))
  const accounts: Array<DifferingAccount> = []
  for (let index = start; index < end; index++) {
    const number = tree.numberAt(index)
    const own = hexOf(tree.leaves.at(index) as Uint8Array)
    const certified = known.get(number)
    known.delete(number)
    if (own === certified || erased.delete(own)) continue
    accounts.push({ number, side: certified === undefined ? "local" : "both" })
  }
  for (const number of known.keys()) accounts.push({ number, side: "certified" })
  return { accounts, erased: erased.size }
}

const below = Effect.fnUntraced(function* <E, R>(
  { nodes: ask }: Asking<E, R>,
  level: number,
  { nodes }: Stretch
) {
  const from = (nodes[0]?.index ?? 0) * stepNodes
  const count = nodes.length * stepNodes
  const found: Array<TreeNode> = []
  for (let asked = 0; asked < count; asked += nodesAtOnce) {
    const limit = Math.min(nodesAtOnce, count - asked)
    found.push(...(yield* ask({ level, from: from + asked, limit })))
  }
  return found
})

/** How many stretches are looked at together. */
const atOnce = 4

const descend = <E, R>(
  asking: Asking<E, R>,
  level: number,
  stretch: Stretch
): Effect.Effect<ReadonlyArray<TreeComparison>, E, R> => {
  if (level === 0) return Effect.succeed([compareLeaves(asking.tree, stretch)])
  const next = level - stepLevels
  const found = Effect.forEach(
    stretchesOf(asking.tree, stretch).filter((each) => !isEqual(asking, each)),
    (each) =>
      Effect.flatMap(below(asking, next, each), (nodes) =>
        descend(asking, next, { ...each, nodes })
      ),
    { concurrency: atOnce }
  )
  return Effect.map(found, (comparisons) => comparisons.flat())
}

/** The lowest level, in steps, of which one request answers all nodes. */
const startLevel = (size: number): number => {
  let level = 0
  while (size > nodesAtOnce * 2 ** level) level += stepLevels
  return level
}

/** Compares the book with a certificate of this size. */
export const compareTrees = Effect.fnUntraced(function* <E, R>(
  asking: Asking<E, R>,
  size: number
): Effect.fn.Return<TreeComparison, E, R> {
  const level = startLevel(size)
  const nodes = yield* asking.nodes({ level, from: 0, limit: nodesAtOnce })
  const end = asking.tree.leaves.length
  const found = yield* descend(asking, level, { nodes, start: 0, end })
  return {
    accounts: found
      .flatMap(({ accounts }) => accounts)
      .toSorted((one, other) => compareCodePoints(one.number, other.number)),
    erased: found.reduce((sum, { erased }) => sum + erased, 0)
  }
})
