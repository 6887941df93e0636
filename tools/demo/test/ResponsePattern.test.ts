import { expect, it } from "vitest"
import { differences, type ResponsePattern } from "../ResponsePattern.ts"

const same: ReadonlyArray<readonly [expected: ResponsePattern, actual: unknown]> = [
  [1, 1],
  ["", ""],
  [null, null],
  [/^A-/, "A-1"],
  [{}, { more: true }],
  [{ a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 2, d: 3 }], e: 4 } }],
  [[], []]
]

const different: ReadonlyArray<
  readonly [expected: ResponsePattern, actual: unknown, path: string]
> = [
  [1, "1", "body"],
  [null, undefined, "body"],
  [/^A-/, "B-1", "body"],
  [/1/, 1, "body"],
  [{ a: 1 }, null, "body"],
  [{ a: 1 }, {}, "body.a"],
  [{ a: { b: 1 } }, { a: { b: 2 } }, "body.a.b"],
  [[1], [1, 2], "body"],
  [[1, 2], [1, 3], "body.1"],
  [[], {}, "body"],
  [{}, [], "body"]
]

it.each(same)("%j is what was expected of %j", (expected, actual) => {
  expect(differences(expected, actual)).toEqual([])
})

it.each(different)("%j is not what was expected of %j, at %s", (expected, actual, path) => {
  expect(differences(expected, actual)).toEqual([expect.stringMatching(`^${path}: expected `)])
})

it("lists every difference", () => {
  expect(differences({ a: 1, b: /x/ }, { a: 2, b: "y" })).toEqual([
    "body.a: expected 1, got 2",
    'body.b: expected a text like x, got "y"'
  ])
})
