/** Names of the actions of the audit log, and the life of an account built from its entries. */
import type { AuditAction } from "@data-import/domain/audit/AuditLog"
import type { Account, Audit, AuditEntry } from "../data/Answers.ts"
import { counted } from "./Numbers.ts"
import { relative } from "./Times.ts"

export const actions: Readonly<Record<AuditAction, string>> = {
  stage: "Account staged",
  process: "Import attempted",
  change_import: "Cohort set",
  revert_import: "Account reverted",
  create_notes: "Notes added",
  create_transactions: "Transactions added",
  create_historical_statements: "Statements added",
  create_payment_instruction: "Payment instruction added",
  end_payment_instruction: "Payment instruction ended",
  create_batch: "Batch created",
  start_batch: "Batch started",
  pause_batch: "Batch paused",
  resume_batch: "Batch resumed",
  cancel_batch: "Batch cancelled",
  issue_certificate: "Certificate requested",
  set_control_totals: "Control totals entered",
  empty_sandbox: "Sandbox emptied",
  read_account: "Account read",
  read_accounts: "Accounts read",
  read_batch: "Lines of a batch read",
  read_import: "Personal data shown",
  read_document: "Link to a document made",
  read_certificate: "Certificate read",
  create_organisation: "Organisation created",
  issue_key: "API key issued",
  revoke_key: "API key revoked",
  create_supplier: "Supplier created",
  configure_supplier: "Supplier configured",
  change_supplier_status: "Status of the migration changed",
  create_team: "Operations team created",
  add_choice: "Choice added",
  skip_import: "Account left out",
  unskip_import: "Account taken in again",
  erase_import: "Account erased",
  create_webhook: "Webhook created",
  change_webhook: "Webhook changed",
  issue_board_link: "Sign-in link issued",
  end_board_sessions: "Sessions of the board ended",
  sign_in: "Session of the board begun",
  prolong_session: "Session of the board prolonged",
  set_plan: "Plan entered",
  decide_wave: "Go or no-go of a wave decided",
  plan_wave: "Wave planned",
  start_wave: "Planned wave started",
  move_accounts: "Accounts moved",
  comment: "Comment added",
  sign_off: "Migration signed off",
  set_alerts: "Alerts of the user set",
  invite_supplier: "Person of the supplier invited",
  revoke_invitation: "Invitation revoked"
}

const isAction = (action: string): action is AuditAction => Object.hasOwn(actions, action)

/** The word that says that it was done, of those that end with another. */
const done = /^(.*?)(left out|taken in again|signed off|[a-z]+)$/

/**
 * The name of an action; empty for an unknown one, which a later release may write. What was
 * refused is never told as done. An attempt was made, whatever came of it.
 */
export const actionWord = ({
  action,
  failed,
  outcome
}: Pick<AuditEntry, "action" | "failed" | "outcome">): string => {
  if (!isAction(action)) return ""
  if (outcome === "dry_run_successful") return "Import rehearsed"
  return failed && action !== "process"
    ? actions[action].replace(done, "$1not $2")
    : actions[action]
}

/** The headline of a page of the audit log. A search that has stopped is never told as a whole. */
export const ofAudit = (
  { entries, next_before, stopped }: Audit,
  isFirst: boolean,
  now: number
): string => {
  const last = entries.at(-1)
  if (last === undefined) {
    return stopped
      ? "Nothing like this so far; older entries were not searched yet"
      : "Nobody did anything like this"
  }
  const since = relative(Date.parse(last.at), now)
  const shown = counted(entries.length, "entry", "entries")
  if (stopped) return `${shown} so far, back to ${since}; older ones were not searched yet`
  return next_before === null
    ? `${shown}, the first of ${since}`
    : `The ${isFirst ? "newest" : "next"} ${shown}, back to ${since}`
}

export type LifeEvent =
  | { readonly kind: "attempt"; readonly at: string; readonly attempt: Account["attempts"][number] }
  | { readonly kind: "imported"; readonly at: string; readonly as: string | null }
  | {
      readonly kind: "reverted"
      readonly at: string
      readonly account: Account["reverted"][number]
    }
  | { readonly kind: "moved"; readonly at: string; readonly move: Account["moves"][number] }
  | { readonly kind: "entry"; readonly at: string; readonly entry: AuditEntry }
  | { readonly kind: "staged"; readonly at: string }

/**
 * Leaves out reads, which change nothing, and attempts, which are listed with more detail. What was
 * refused before it was attempted is in no list of attempts. Reverts are told with their reasons.
 */
const isOfLife =
  ({ attempts, reverted }: Account) =>
  ({ action, at, failed, outcome }: AuditEntry): boolean => {
    if (action === "process") return failed && attempts.every(({ code }) => code !== outcome)
    if (action === "revert_import") {
      return outcome !== "reverted" || reverted.every(({ reverted_at }) => reverted_at !== at)
    }
    return !action.startsWith("read_")
  }

/** The newest first. The oldest entries of a long life are only on the page of the audit log. */
export const lifeOf = (account: Account): ReadonlyArray<LifeEvent> => {
  const entries = account.audit
    .filter(isOfLife(account))
    .map((entry): LifeEvent => ({ kind: "entry", at: entry.at, entry }))
  const isStagingTold = account.audit.some(({ action, failed }) => action === "stage" && !failed)
  const { account_created_at: createdAt, kraken_account_number, staged_at: stagedAt } = account
  return [
    ...(createdAt === null
      ? []
      : [{ kind: "imported", at: createdAt, as: kraken_account_number } as const]),
    ...account.reverted.flatMap((each): ReadonlyArray<LifeEvent> => [
      { kind: "reverted", at: each.reverted_at, account: each },
      { kind: "imported", at: each.account_created_at, as: each.kraken_account_number }
    ]),
    ...account.attempts.map((attempt): LifeEvent => ({
      kind: "attempt",
      at: attempt.started_at,
      attempt
    })),
    ...account.moves.map((move): LifeEvent => ({ kind: "moved", at: move.at, move })),
    ...entries,
    ...(isStagingTold ? [] : [{ kind: "staged", at: stagedAt } as const])
  ].toSorted((one, other) => other.at.localeCompare(one.at))
}
