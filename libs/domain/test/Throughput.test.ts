/** Source: docs/contract/batches.md#the-batch. */
import { describe, expect, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as Throughput from "../src/batches/Throughput.ts"

const start = DateTime.makeUnsafe("2026-11-22T10:00:00Z")
const after = (seconds: number) => DateTime.add(start, { seconds })

/** The lines that ended at each of these seconds after the start. */
const recent = (...ended: ReadonlyArray<readonly [seconds: number, lines: number]>) =>
  ended.reduce<Throughput.RecentLines>(
    (sum, [seconds, lines]) => Throughput.add(sum, lines, after(seconds)),
    []
  )

describe("the speed of a batch", () => {
  const table = [
    ["of the time since the start, while that is less than a minute", [[3, 100]], 10, 10],
    [
      "of the last minute after that",
      [
        [3, 600],
        [70, 300]
      ],
      100,
      5
    ],
    ["nothing where nothing ended lately", [[3, 600]], 100, 0],
    [
      "the sum of lines that end in the same seconds",
      [
        [10, 1],
        [11, 2],
        [12, 3]
      ],
      60,
      0.1
    ]
  ] as const
  it.each(table)("is that %s", (_name, ended, now, expected) => {
    expect(Throughput.perSecond(recent(...ended), start, after(now))).toBe(expected)
  })

  it("estimates when the rest will have ended", () => {
    expect(Throughput.estimatedEnd(100, 8, start)).toEqual(after(13))
    expect(Throughput.estimatedEnd(100, 0, start)).toBeNull()
  })
})
