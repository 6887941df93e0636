import { describe, expect, it } from "vitest"
import { verdictOf } from "../src/migrations/GoNoGo.ts"

/** Such as `Ann GO`, or `Ann GO over` if it does not stand any more. */
const decided = (text: string) => {
  const [by = "", decision, mark] = text.split(" ")
  return { by, decision: decision === "GO" ? "GO" : "NO_GO", stands: mark !== "over" } as const
}

describe("what holds of a wave", () => {
  it.each([
    [[], "UNDECIDED", "UNDECIDED"],
    [["Ann GO"], "GO", "HALF"],
    [["Ann GO", "Ann GO"], "GO", "HALF"],
    [["Bob GO", "Ann GO"], "GO", "GO"],
    [["Bob NO_GO", "Ann GO"], "NO_GO", "NO_GO"],
    [["Ann GO", "Bob NO_GO", "Cleo GO"], "GO", "HALF"],
    [["Ann GO over"], "OVER", "OVER"],
    [["Bob GO", "Ann GO over"], "GO", "HALF"]
  ] as const)("after %j, the newest first, is %s; with four eyes %s", (texts, one, two) => {
    const decisions = texts.map(decided)
    expect([false, true].map((eyes) => verdictOf(decisions, ({ stands }) => stands, eyes))).toEqual(
      [one, two]
    )
  })
})
