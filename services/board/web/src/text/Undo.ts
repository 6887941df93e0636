/** What undoing a wave would do, in words. */
import type { UndoPreview } from "../data/Answers.ts"
import { count, counted, verb } from "./Numbers.ts"

/** Such as `2 transactions and 1 note`; empty if nothing was added. */
export const additionsText = ({ additions }: Pick<UndoPreview, "additions">): string => {
  const parts = [
    [additions.transactions, "transaction"],
    [additions.notes, "note"],
    [additions.statements, "statement"],
    [additions.payment_instructions, "payment instruction"]
  ] as const
  const told = parts.flatMap(([number, one]) => (number > 0 ? [counted(number, one)] : []))
  const last = told.at(-1) ?? ""
  return told.length > 1 ? `${told.slice(0, -1).join(", ")} and ${last}` : last
}

/** Such as `2 of STRIPE and 1 of GOCARDLESS`; empty if no payment instruction would end. */
export const vendorsText = ({
  payment_instructions: ending
}: Pick<UndoPreview, "payment_instructions">): string =>
  ending.map(({ accounts, vendor }) => `${count(accounts)} of ${vendor}`).join(" and ")

interface Refusal {
  readonly why: string
  /** What would allow it. */
  readonly remedy: string
}

const refusals: Readonly<Record<string, Refusal>> = {
  revert_window_closed: {
    why: "imported too long ago",
    remedy: "Only the operator can still revert them."
  },
  account_has_additions: {
    why: "something was added since the import",
    remedy: "Choose below to end that too."
  },
  payload_not_kept: {
    why: "what was staged is deleted, so nothing could be imported again",
    remedy: "Ask the operator."
  },
  account_import_process_in_progress: {
    why: "being imported at this moment",
    remedy: "Wait until they are, and look again."
  },
  import_supplier_migration_not_ongoing: {
    why: "the migration is signed off",
    remedy: "The operator can reopen it."
  }
}

/** Why accounts would not be reverted. */
export const refusalOf = (code: string): Refusal => refusals[code] ?? { why: code, remedy: "" }

/** What happens to the accounts that would be reverted. */
export const endingText = ({ accounts, total }: Pick<UndoPreview, "accounts" | "total">): string =>
  `${accounts < total ? `${count(accounts)} of ` : ""}${counted(total, "account")} ${verb(accounts, "ends", "end")}: ` +
  `${verb(accounts, "it stays", "they stay")} readable by ${verb(accounts, "its", "their")} ` +
  `${verb(accounts, "number", "numbers")}, and ${verb(accounts, "counts", "count")} nowhere any ` +
  `more. ${verb(accounts, "Its import is", "Their imports are")} pending again, to be corrected ` +
  "and imported under new numbers. An account that ended cannot be brought back."
