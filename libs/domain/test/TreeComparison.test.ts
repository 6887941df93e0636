/** Source: docs/contract/certificates.md#comparing. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import type { NodeRange } from "../src/certificates/CertificateTrees.ts"
import { LocalTree, type SortedTree } from "../src/certificates/LocalTree.ts"
import { compareTrees } from "../src/certificates/TreeComparison.ts"
import { hashing } from "../testing/memory/Hashing.ts"
import { nodesOf } from "../testing/treeNodes.ts"

type Book = ReadonlyMap<string, string>

/** The tree of accounts, each with a content. */
const treeOf = (book: Book): SortedTree => {
  const tree = new LocalTree()
  for (const [number, content] of book)
    tree.add(number, hashing.digest(Buffer.from(`${number} ${content}`)))
  return tree.sorted()
}

/** A certificate of the accounts, from which some were erased, and what it is asked. */
const certified = (tree: SortedTree, erased: ReadonlySet<string> = new Set()) => {
  const asked: Array<NodeRange> = []
  const nodes = (range: NodeRange) => {
    asked.push(range)
    return Effect.succeed(nodesOf(tree, range, erased))
  }
  return { nodes, size: tree.leaves.length, asked }
}

const compared = (tree: SortedTree, { nodes, size }: ReturnType<typeof certified>) =>
  Effect.runSync(compareTrees({ hashing, tree, nodes }, size))

const bookOf = (count: number): Map<string, string> =>
  new Map(Array.from({ length: count }, (_, at) => [`N-${String(at).padStart(6, "0")}`, "1"]))

describe("the comparison of trees", () => {
  it.each([0, 1, 255, 256, 257, 511, 65_537])(
    "names what was changed, left out or put in anywhere among %i accounts",
    (count) => {
      const book = bookOf(count)
      const tree = treeOf(book)
      expect(compared(tree, certified(tree))).toEqual({ accounts: [], erased: 0 })
      const numbers = [...book.keys()]
      const places = [numbers[0], numbers[Math.floor(count / 2)], numbers.at(-1)]
      for (const number of places.filter((each) => each !== undefined)) {
        const changed = treeOf(new Map([...book, [number, "2"], [`${number}+`, "1"]]))
        const certificate = certified(tree)
        expect(compared(changed, certificate).accounts).toEqual([
          { number, side: "both" },
          { number: `${number}+`, side: "local" }
        ])
        expect(certificate.asked.length).toBeLessThanOrEqual(3)
        expect(compared(tree, certified(changed)).accounts.at(-1)?.side).toBe("certified")
      }
    }
  )

  it("finds every difference of random books, also beside erased accounts", () => {
    const number = fc.integer({ min: 0, max: 3_000 }).map((at) => `N-${at}`)
    const changes = fc.dictionary(number, fc.constantFrom("1", "2"), { maxKeys: 20 })
    const absent = fc.uniqueArray(number, { maxLength: 20 })
    fc.assert(
      fc.property(changes, absent, absent, (more, without, erasedNumbers) => {
        const book = new Map(Array.from({ length: 1_500 }, (_, at) => [`N-${2 * at}`, "1"]))
        const local = new Map([...book, ...Object.entries(more)])
        const erased = new Set(erasedNumbers.filter((each) => book.has(each)))
        for (const each of [...without, ...erased]) local.delete(each)
        const expected = [...new Set([...book.keys(), ...local.keys()])].filter(
          (each) => book.get(each) !== local.get(each) && !erased.has(each)
        )
        const { accounts, ...rest } = compared(treeOf(local), certified(treeOf(book), erased))
        expect(accounts.map((each) => each.number).toSorted()).toEqual(expected.toSorted())
        expect(rest.erased).toBe(erased.size)
      }),
      { numRuns: 30 }
    )
  })

  it("takes an account that was erased since for the same if its entry is", () => {
    const tree = treeOf(bookOf(600))
    const erased = new Set(["N-000000", "N-000256", "N-000300"])
    expect(compared(tree, certified(tree, erased))).toEqual({ accounts: [], erased: 0 })
  })
})
