/**
 * What is not done when a migration is to be signed off.
 * Source: docs/contract/board.md#sign-off.
 */
import { type BoardUser, isOfSupplier } from "../access/BoardUser.ts"
import { type SupplierSummary, ties } from "./SupplierSummary.ts"
import type { CertificateRecord } from "../certificates/Certificates.ts"
import type { SignOff } from "./Migrations.ts"
import { formatInstant } from "../schema/Field.ts"
import type { OpenItem } from "./OpenItems.ts"
import type { StatusReason } from "./Comments.ts"
import { isNothingStaged, type Unstaged } from "./OpenWorkText.ts"

/** The certificate of a sign-off: attached to it, or, before it, the newest that is issued. */
export interface SignOffCertificate {
  readonly certificate_id: string
  readonly cohort: string | null
  readonly at: string
  readonly tree_size: number
  /** Null for who may not read balances, since balances can be guessed with it. */
  readonly root: string | null
}

export interface SignOffBody {
  readonly open: ReadonlyArray<OpenItem>
  /** Null: there is none. */
  readonly certificate: SignOffCertificate | null
  readonly signed: {
    /** Null for a user of the supplier, who is not told the reason either. */
    readonly by: string | null
    readonly at: string
    /** Why it was signed off although something was open, and what that was. */
    readonly reason: string | null
    readonly accepted: ReadonlyArray<OpenItem>
  } | null
}

/**
 * The open items; `batches` is the number of unfinished batches, and `differences` of the expected
 * sums of money that have not arrived as such.
 */
export const openItems = (
  summary: SupplierSummary,
  unstaged: Unstaged,
  batches: number,
  differences: number
): ReadonlyArray<OpenItem> => {
  const { FAILED, IN_PROGRESS, PENDING } = summary.states
  const items: ReadonlyArray<OpenItem> = [
    { what: "NOTHING_STAGED", count: isNothingStaged(summary.states, unstaged) ? 1 : 0 },
    { what: "PENDING", count: PENDING },
    { what: "FAILED", count: FAILED },
    { what: "IN_PROGRESS", count: IN_PROGRESS },
    { what: "LINES_FAILED", count: unstaged.failed },
    { what: "LINES_REMAINING", count: unstaged.remaining },
    { what: "LINES_REFUSED", count: unstaged.refused },
    { what: "ACCOUNTS_MISSING", count: unstaged.missing },
    { what: "ACCOUNTS_UNEXPECTED", count: unstaged.unexpected },
    { what: "BATCHES", count: batches },
    { what: "MONEY", count: ties(summary) ? 0 : 1 },
    { what: "CONTROL_TOTALS", count: differences }
  ]
  return items.filter(({ count }) => count > 0)
}

export const certificateOf = (
  record: CertificateRecord | null,
  mayReadBalances: boolean
): SignOffCertificate | null => {
  if (record === null || record.issued === null) return null
  const { at, certificate_id, cohort, root, tree_size } = record.issued.content
  return { certificate_id, cohort, at, tree_size, root: mayReadBalances ? root : null }
}

export const signOffBody = (
  open: ReadonlyArray<OpenItem>,
  certificate: CertificateRecord | null,
  signed: SignOff | null,
  reason: StatusReason | null,
  user: Pick<BoardUser, "role" | "suppliers">
): SignOffBody => ({
  open,
  certificate: certificateOf(certificate, user.role === "manager"),
  signed: signed && {
    ...(isOfSupplier(user)
      ? { by: null, reason: null, accepted: [] }
      : { by: signed.by, reason: reason && reason.text, accepted: reason?.open ?? [] }),
    at: formatInstant(signed.at)
  }
})
