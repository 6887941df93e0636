/** Comments in words: what each goes with, and when a correction file was sent. */
import type { Comment } from "../data/Answers.ts"
import { counted } from "./Numbers.ts"
import { stateWord } from "./Words.ts"

type Open = NonNullable<Comment["open"]>[number]

/** Open items that no list of accounts shows: their names, and the section that shows them. */
export const openOthers: Readonly<Record<string, readonly [word: string, part: string]>> = {
  IN_PROGRESS: ["Accounts in progress", "progress"],
  NOTHING_STAGED: ["Nothing was staged", "progress"],
  LINES_FAILED: ["Lines of batches that failed", "batches"],
  LINES_REMAINING: ["Lines of batches to do", "batches"],
  LINES_REFUSED: ["Lines of ended batches that were refused", "batches"],
  ACCOUNTS_MISSING: ["Expected accounts that were never received", "control-totals"],
  ACCOUNTS_UNEXPECTED: ["Accounts more than expected", "control-totals"],
  BATCHES: ["Batches that have not ended", "batches"],
  MONEY: ["Sums of money that do not add up", "money"],
  CONTROL_TOTALS: ["Sums of money that are not as expected", "control-totals"]
}

export const openWord = ({ what }: Pick<Open, "what">): string =>
  openOthers[what]?.[0] ?? `${stateWord(what)} accounts`

const deeds: Readonly<Record<Comment["about"], string>> = {
  comment: "",
  pause: "paused it",
  resume: "resumed it",
  sign_off: "signed it off",
  corrections_sent: "sent the corrections"
}

/** What the correction file had, such as `120 accounts, 3 lines`. */
export const fileText = ({ open }: Pick<Comment, "open">): string => {
  const of = (what: Open["what"]) => open?.find((item) => item.what === what)?.count ?? 0
  return `${counted(of("FAILED"), "account")}, ${counted(of("LINES_REFUSED"), "line")}`
}

/** What somebody did with these words; empty if nothing. */
export const deedText = ({ about, open }: Pick<Comment, "about" | "open">): string => {
  if (about === "corrections_sent") return `${deeds[about]} of ${fileText({ open })}`
  const items = (open ?? []).map((item) =>
    item.what === "NOTHING_STAGED"
      ? openWord(item)
      : `${openWord(item)}: ${item.count.toLocaleString("en-GB")}`
  )
  return items.length === 0 ? deeds[about] : `${deeds[about]}. Open then: ${items.join("; ")}`
}
