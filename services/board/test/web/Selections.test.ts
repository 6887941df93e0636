import { expect, it } from "vitest"
import { countedSelection, described, type Selection } from "../../web/src/text/Selections.ts"

it.each<readonly [Selection, string]>([
  [{}, "pending or failed accounts"],
  [{ cohort: "wave-1" }, "pending or failed accounts of wave-1"],
  [{ state: "PENDING", cohort: null }, "pending accounts without a cohort"],
  [{ state: "FAILED", code: "blank", attr: "a.b" }, "failed accounts with blank at a.b"],
  [{ corrected: true, search: "N" }, "corrected accounts with numbers that begin with N"],
  [{ numbers: ["a"] }, "chosen accounts"]
])("the selection %j is %s", (selection, text) => expect(described(selection)).toBe(text))

it.each<readonly [Selection, number | null, string]>([
  [{ state: "FAILED" }, 1, "1 failed account"],
  [{ numbers: ["a", "b"] }, 2, "2 chosen accounts"],
  [{ numbers: ["a"] }, 1, "account a"],
  [{ corrected: true }, null, "all corrected accounts"]
])("the selection %j of %s is %s", (selection, accounts, text) =>
  expect(countedSelection(selection, accounts)).toBe(text)
)
