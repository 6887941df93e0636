import { expect, it } from "vitest"
import { durationWords } from "../src/batches/ForecastWords.ts"

it.each([
  [180, 540, 2, "between 3 and 9 minutes, 4 of 5 times; learnt from 2 earlier runs"],
  [179, 481, 1, "between 2 and 9 minutes, 4 of 5 times; learnt from 1 earlier run"],
  [40, 180, 0, "between 40 seconds and 3 minutes, 4 of 5 times; learnt from no earlier run"],
  [0, 1, 0, "between 0 and 1 second, 4 of 5 times; learnt from no earlier run"],
  [7_199, 7_201, 0, "between 119 minutes and 3 hours, 4 of 5 times; learnt from no earlier run"]
])("%d to %d seconds are said in words, and never as less", (from, to, runs, expected) => {
  const duration = { from_seconds: from, to_seconds: to, level: 0.8, past_runs: runs }
  expect(durationWords(duration)).toBe(expected)
})
