/**
 * What is not done when a migration is to be signed off.
 * Source: docs/contract/board.md#sign-off.
 */
import { BigDecimal, DateTime, Effect } from "effect"
import { type BoardUser, isOfSupplier } from "../access/BoardUser.ts"
import { type SupplierSummary, ties } from "./SupplierSummary.ts"
import type { Certificate } from "../certificates/Certificate.ts"
import type { CertificateRecord } from "../certificates/Certificates.ts"
import { isEqual } from "../schema/Decimal.ts"
import type { SupplierSummaries } from "./SupplierSummaries.ts"
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
  /** Whether accounts were imported, reverted, erased or given another balance since. */
  readonly is_changed: boolean
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

const isChanged = (
  { balance, erased, reverted, states }: Certificate,
  summary: SupplierSummary
): boolean =>
  states["IMPORTED"] !== summary.states.IMPORTED ||
  states["ERASED"] !== summary.states.ERASED ||
  reverted !== summary.reverted ||
  // An erased account has no balance in a certificate, and still one in the summary.
  (erased === 0 && !isEqual(BigDecimal.fromStringUnsafe(balance), summary.balance))

/** A summary that was read already, and the cohort that it is of. */
interface ReadSummary {
  readonly cohort: string | null
  readonly summary: SupplierSummary
}

/** A certificate as a sign-off shows it, beside what is stored now. */
export const certificateOf = Effect.fnUntraced(function* (
  { summaries }: { readonly summaries: SupplierSummaries["Service"] },
  record: CertificateRecord | null,
  user: Pick<BoardUser, "role">,
  known: ReadSummary
) {
  if (record === null || record.issued === null) return null
  const { cohort, issued, supplier } = record
  const { content } = issued
  const { at, certificate_id, root, tree_size } = content
  const summary =
    known.cohort === cohort
      ? known.summary
      : yield* summaries.read({ supplier, cohort, at: yield* DateTime.now })
  return {
    certificate_id,
    cohort,
    at,
    tree_size,
    root: user.role === "manager" ? root : null,
    is_changed: isChanged(content, summary)
  } satisfies SignOffCertificate
})

export const signOffBody = (
  open: ReadonlyArray<OpenItem>,
  certificate: SignOffCertificate | null,
  signed: SignOff | null,
  reason: StatusReason | null,
  user: Pick<BoardUser, "suppliers">
): SignOffBody => ({
  open,
  certificate,
  signed: signed && {
    ...(isOfSupplier(user)
      ? { by: null, reason: null, accepted: [] }
      : { by: signed.by, reason: reason && reason.text, accepted: reason?.open ?? [] }),
    at: formatInstant(signed.at)
  }
})
