/** What of a migration is not done, as items of a sign-off or a comment. */
import { Schema } from "effect"

/**
 * What is open, and how much of it. Ledger sums that do not tie are one item, because their number
 * is not known, and so is a migration of which nothing was staged.
 */
export const OpenItem = Schema.Struct({
  what: Schema.Literals([
    "NOTHING_STAGED",
    "PENDING",
    "FAILED",
    "IN_PROGRESS",
    "LINES_FAILED",
    "LINES_REMAINING",
    "LINES_REFUSED",
    "ACCOUNTS_MISSING",
    "ACCOUNTS_UNEXPECTED",
    "BATCHES",
    "MONEY",
    "CONTROL_TOTALS"
  ]),
  count: Schema.Int
})
export type OpenItem = typeof OpenItem.Type

/** In words of the audit log, such as `12 FAILED, 3 LINES_REFUSED`. */
export const itemsText = (open: ReadonlyArray<OpenItem>): string =>
  open.map(({ count, what }) => `${count} ${what}`).join(", ")
