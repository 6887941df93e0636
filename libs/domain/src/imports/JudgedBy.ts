/**
 * By what an attempt judges the staged account, apart from the account itself: if it is the same
 * for two attempts, so is what they find, but for documents.
 * Source: docs/contract/batches.md#outcome.
 */
import type { Hashing } from "../requests/Hashing.ts"
import { Option } from "effect"
import type { Configured } from "../requests/RequestValidation.ts"

/** Is raised with every change of what is valid. */
const rulesVersion = 1

const shownDigits = 16

/** The business day, the version of the rules, and a digest of the configuration. */
export const judgedBy = (
  { sha256 }: Hashing["Service"],
  { codeLists, supplier }: Configured,
  today: string
): string => {
  const settings = Option.map(supplier, ({ documentCheck, timeZone }) => [documentCheck, timeZone])
  const configuration = sha256(JSON.stringify([codeLists, Option.getOrNull(settings)]))
  return `${today} ${rulesVersion} ${configuration.slice(0, shownDigits)}`
}

/** The business day of what `judgedBy` has made, and the rest. */
export const partsOfJudgedBy = (by: string) => ({
  day: by.slice(0, by.indexOf(" ")),
  others: by.slice(by.indexOf(" ") + 1)
})
