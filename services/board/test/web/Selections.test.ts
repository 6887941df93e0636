import { expect, it } from "vitest"
import { described, type Selection } from "../../web/src/text/Selections.ts"

it.each<readonly [Selection, string]>([
  [{}, "pending or failed accounts"],
  [{ cohort: "wave-1" }, "pending or failed accounts of wave-1"],
  [{ state: "PENDING", cohort: null }, "pending accounts without a cohort"],
  [{ state: "FAILED", code: "blank" }, "failed accounts with blank"]
])("the selection %j is %s", (selection, text) => expect(described(selection)).toBe(text))

it("names one account in the singular", () =>
  expect(described({ state: "FAILED" }, true)).toBe("failed account"))
