/** Certificates of the board in each state, for looking at their pages. */
import type * as Bodies from "@data-import/api/board/Certificates"
import { instant } from "./sampleMigrations.ts"

type Certificate = typeof Bodies.BoardCertificateBody.Type
type Content = NonNullable<Certificate["certificate"]>

const hour = 3_600_000

const idOf = (place: number) => `0b5a4f6e-3c1d-4e0a-9f53-${String(place).padStart(12, "0")}`

export const running = idOf(4)
export const failed = idOf(3)
export const later = idOf(2)
/** The one before it. */
export const earlier = idOf(1)

const issuer = { organisation: "south", role: "manager", id: "00u1a2b3c4" }

const contentOf = (supplier: string, id: string, at: string): Content => {
  const isLater = id === later
  const [accounts, balance] = isLater ? [58_464, "-1204506.02"] : [58_463, "-1204518.36"]
  return {
    certificate_id: id,
    import_supplier: supplier,
    cohort: null,
    at,
    tree_size: accounts,
    root: (isLater ? "5f3c7a0e7d3f1d6a" : "a9f1f9c7a5f2c0b8").repeat(4),
    states: { PENDING: 0, FAILED: 412, IN_PROGRESS: 0, SKIPPED: 0, IMPORTED: accounts, ERASED: 1 },
    balance_as_imported: balance,
    balance_added: "0.00",
    balance,
    ledger_balances: [
      { ledger_code: "ELECTRICITY_LEDGER", ledgers: accounts, balance: "-981022.10" },
      {
        ledger_code: "GAS_LEDGER",
        ledgers: 40_118,
        balance: isLater ? "-223483.92" : "-223496.26"
      }
    ],
    transactions: [
      { type: "CHARGE", reason: "IMPORTED_CHARGE", count: 412_118, amount: "9120441.17" },
      { type: "PAYMENT", reason: null, count: 388_204, amount: "7915922.81" }
    ],
    statements: { count: 233_856, gross_amount: "0.00" },
    documents: {
      count: 233_856,
      bytes: 14_210_000_000,
      root: "e3b0c44298fc1c14".repeat(4),
      without_checksum: 96
    },
    control_totals: { accounts: 95_000, balance: null, ledger_balances: null, matches: false },
    erased: 1,
    reverted: 0,
    hash_recomputed: 12,
    version: 1,
    iss: "https://import.example.com",
    mode: "live",
    issued_by: issuer,
    previous: isLater ? { certificate_id: earlier, jws_sha256: "b0".repeat(32) } : null
  }
}

/** A viewer gets neither the content nor the record. */
export const certificates = (
  supplier: string,
  {
    cohort,
    isCertified,
    isManager
  }: {
    readonly cohort: string | null
    readonly isCertified: boolean
    readonly isManager: boolean
  },
  now: number
): typeof Bodies.BoardCertificatesBody.Type => {
  const one = (place: number, of: string | null): Certificate => {
    const id = idOf(place)
    const requested = instant(now - (5 - place) * hour)
    const isIssued = id !== failed && (id !== running || isCertified)
    const content = isIssued ? contentOf(supplier, id, requested) : null
    return {
      certificate_id: id,
      import_supplier: supplier,
      cohort: of,
      status: "ISSUED",
      requested_at: requested,
      ended_at: requested,
      issued_by: issuer,
      counts: content && {
        tree_size: content.tree_size,
        states: content.states,
        erased: content.erased,
        reverted: content.reverted,
        documents: content.documents.count
      },
      progress: null,
      failed: null,
      ...(isManager && { certificate: content, jws: content && "header.payload.signature" })
    }
  }
  const all: ReadonlyArray<Certificate> = [
    {
      ...one(4, "wave-1"),
      ...(!isCertified && {
        status: "RUNNING" as const,
        ended_at: null,
        progress: { done: 12_288, total: 29_231 }
      })
    },
    {
      ...one(3, null),
      status: "FAILED",
      failed: { why: "The record could not be signed.", remedy: "Issue another one." }
    },
    one(2, null),
    one(1, null)
  ]
  return {
    certificates: all.filter((each) => cohort === null || each.cohort === cohort),
    next_before: null
  }
}

/** The one of a sign-off. */
export const attached = (supplier: string, now: number) => {
  const content = contentOf(supplier, later, instant(now - 3 * hour))
  const { at, certificate_id, cohort, root, tree_size } = content
  return { at, certificate_id, cohort, root, tree_size, is_changed: false }
}
