/** The checks of a slice of each walk, as pure comparisons of data from one snapshot. */
import { BigDecimal, DateTime, Duration, Effect, Option, Stream } from "effect"
import * as Counts from "../batches/Counts.ts"
import type { Accounts } from "../accounts/Accounts.ts"
import type { CheckedAccount, CheckedBatch, Checks, Difference, Walk } from "./Checks.ts"
import type { PayloadHash } from "../imports/ImportProcess.ts"
import type { Hashing } from "../requests/Hashing.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { isEqual, twoDecimals } from "../schema/Decimal.ts"
import { type AuditFault, faultAmong, verifyRoot } from "../audit/AuditVerification.ts"
import type { SealedAuditLog } from "../audit/SealedAuditLog.ts"
import { readEntry } from "../certificates/ReadEntry.ts"

export interface CheckPorts {
  readonly accounts: Accounts["Service"]
  readonly checks: Checks["Service"]
  readonly hashing: Hashing["Service"]
  readonly sealed: SealedAuditLog["Service"]
}

/** A slice that was checked; `through` is its last number, null at the end of the walk. */
export interface CheckedSlice {
  readonly checked: number
  readonly differences: ReadonlyArray<Difference>
  readonly through: bigint | null
}

type Walker = (slice: {
  readonly after: bigint
  readonly limit: number
}) => Effect.Effect<CheckedSlice, StorageUnavailable>

/** Events that wait longer for their position are reported. */
const longestLag = Duration.minutes(1)

const sliceOf = (
  found: ReadonlyArray<{ readonly subject: bigint }>,
  limit: number,
  differences: ReadonlyArray<Difference>
): CheckedSlice => ({
  checked: found.length,
  differences,
  through: found.length < limit ? null : (found.at(-1)?.subject ?? null)
})

const outcomes = ["received", "succeeded", "already", "failed", "cancelled"] as const

const differencesOfBatch = ({
  counted,
  stored,
  subject,
  supplier
}: CheckedBatch): ReadonlyArray<Difference> => {
  const remaining = Counts.remaining(stored)
  const unequal = [
    ...outcomes.map((name) => [name, stored[name], counted[name]] as const),
    ["remaining", remaining, counted.remaining] as const
  ].filter(([, said, found]) => said !== found)
  if (unequal.length === 0) return []
  const detail = unequal.map(([name, said, found]) => `${name} ${said}, lines ${found}`).join("; ")
  return [{ check: "batch_counts", subject, supplier, detail }]
}

/** Null if the account no longer exists, or was erased since its hash was read. */
const entryOf = Effect.fnUntraced(function* (
  { accounts, hashing }: CheckPorts,
  { number }: CheckedAccount
) {
  const described = yield* Stream.runHead(accounts.describe([number]))
  return Option.isNone(described) ? null : yield* readEntry(hashing, described.value)
})

/** Handles defects: a row that does not match its schema, or an unreadable disk page. */
const readBack = (ports: CheckPorts, account: CheckedAccount) =>
  Effect.catchDefect(entryOf(ports, account), (defect) =>
    Effect.as(Effect.logError("an account could not be read back", defect), "unreadable" as const)
  )

/** The differences of an account whose payload has this hash. */
const differencesOfPayload = Effect.fnUntraced(function* (
  ports: CheckPorts,
  account: CheckedAccount,
  hash: PayloadHash
) {
  const { entry, subject, supplier } = account
  const read = yield* readBack(ports, account)
  if (read === null) return []
  const differing = read === "unreadable" ? [] : read.differing
  const present = read === "unreadable" ? read : read.hash
  const found: Array<Difference> = []
  if (present !== hash || differing.length > 0) {
    const by = differing.length === 0 ? "" : ` by rows of ${differing.join(", ")}`
    const detail = `payload ${hash}, account ${present}${by}`
    found.push({ check: "payload_hash", subject, supplier, detail })
  }
  if (entry !== null && read !== "unreadable" && read.entry.members !== entry) {
    const detail = "the stored entry is not that of the account"
    found.push({ check: "entry", subject, supplier, detail })
  }
  return found
})

const differencesOfAccount = Effect.fnUntraced(function* (
  ports: CheckPorts,
  account: CheckedAccount
) {
  const { balance, effects, hash, subject, supplier } = account
  const found: Array<Difference> = []
  if (supplier === null) {
    found.push({ check: "payload_hash", subject, supplier, detail: "the import is missing" })
  }
  if (!isEqual(balance, effects)) {
    const detail =
      `balance ${twoDecimals(balance)}, sum of effects ${twoDecimals(effects)}, ` +
      `difference ${twoDecimals(BigDecimal.subtract(balance, effects))}`
    found.push({ check: "balance", subject, supplier, detail })
  }
  return hash === null ? found : [...found, ...(yield* differencesOfPayload(ports, account, hash))]
})

const lastNumber = 2n ** 63n - 1n

const differenceOf = ({ entry, position, why }: AuditFault): Difference => ({
  check: "audit_log",
  // What no entry shows is found again wherever the walk ends.
  subject: why === "head_differs" || why === "beyond_head" ? lastNumber : position,
  supplier: entry?.import_supplier ?? null,
  detail: `entry ${position}: ${why}`
})

export type Walkers = Readonly<Record<Walk, Walker>>

export const makeWalkers = (ports: CheckPorts): Walkers => {
  const { checks, hashing, sealed } = ports

  /**
   * An account is read after its hash, and may have been erased in between. So a difference counts
   * only if it is found again with the hash of that time.
   */
  const confirmed = Effect.fnUntraced(function* (account: CheckedAccount) {
    const found = yield* differencesOfAccount(ports, account)
    if (found.length === 0) return []
    const [again] = yield* checks.accounts({ after: account.subject - 1n, limit: 1 })
    return again?.subject === account.subject ? yield* differencesOfAccount(ports, again) : []
  })

  return {
    accounts: Effect.fnUntraced(function* (slice) {
      const found = yield* checks.accounts(slice)
      const differences = yield* Effect.forEach(found, confirmed)
      return sliceOf(found, slice.limit, differences.flat())
    }),
    batches: (slice) =>
      Effect.map(checks.batches(slice), (found) =>
        sliceOf(found, slice.limit, found.flatMap(differencesOfBatch))
      ),
    audit_log: Effect.fnUntraced(function* ({ after, limit }) {
      const entries = yield* sealed.entries({ after, limit })
      const end = entries.at(-1)?.position ?? after
      const among = faultAmong(entries, after)
      if (among !== null) {
        return { checked: entries.length, differences: [differenceOf(among)], through: end }
      }
      if (entries.length === limit) return { checked: limit, differences: [], through: end }
      const { fault } = yield* verifyRoot(sealed, hashing)
      const isKnown = fault === null || (fault.why === "missing" && fault.position <= after)
      const differences = isKnown ? [] : [differenceOf(fault)]
      return { checked: entries.length, differences, through: null }
    }),
    events: Effect.fnUntraced(function* () {
      const since = yield* checks.eventsWaitingSince
      const now = yield* DateTime.now
      const lag = since === null ? Duration.zero : DateTime.distance(since, now)
      const isLate = Duration.isGreaterThan(lag, longestLag)
      const detail = `an event waits for its position for ${Math.round(Duration.toSeconds(lag))} s`
      const late = { check: "event_lag", subject: 1n, supplier: null, detail } as const
      return { checked: 1, differences: isLate ? [late] : [], through: null }
    })
  }
}
