import { describe, expect, it } from "vitest"
import { BatchId } from "../src/batches/Batch.ts"
import { verdictOf } from "../src/migrations/GoNoGo.ts"

const [newest, earlier] = [BatchId.make(crypto.randomUUID()), BatchId.make(crypto.randomUUID())]

/** Such as `Ann GO`; an earlier rehearsal is named with a mark. */
const decided = (text: string) => {
  const [by = "", decision, mark] = text.split(" ")
  const rehearsal = mark === "earlier" ? earlier : newest
  return { by, decision: decision === "GO" ? "GO" : "NO_GO", rehearsal } as const
}

describe("what holds of a wave", () => {
  it.each([
    [[], "UNDECIDED", "UNDECIDED"],
    [["Ann GO"], "GO", "HALF"],
    [["Ann GO", "Ann GO"], "GO", "HALF"],
    [["Bob GO", "Ann GO"], "GO", "GO"],
    [["Bob NO_GO", "Ann GO"], "NO_GO", "NO_GO"],
    [["Ann GO", "Bob NO_GO", "Cleo GO"], "GO", "HALF"],
    [["Ann GO earlier"], "OVER", "OVER"],
    [["Bob GO", "Ann GO earlier"], "GO", "HALF"]
  ] as const)("after %j, the newest first, is %s; with four eyes %s", (texts, one, two) => {
    const decisions = texts.map(decided)
    expect([false, true].map((eyes) => verdictOf(decisions, newest, eyes))).toEqual([one, two])
  })
})
