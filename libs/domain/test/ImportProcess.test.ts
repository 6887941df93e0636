/**
 * Every state of an import at every instant around its lease.
 * Source: docs/contract/import.md#import-states.
 */
import { describe, expect, it } from "@effect/vitest"
import { DateTime } from "effect"
import { AccountNumber, ExternalAccountNumber } from "../src/accounts/Account.ts"
import {
  AttemptId,
  holds,
  type ImportProcess,
  isFree,
  stateAt,
  statusOf
} from "../src/imports/ImportProcess.ts"
import { SupplierCode } from "../src/suppliers/Supplier.ts"

const expiry = DateTime.makeUnsafe("2026-01-01T12:01:00Z")
const holder = AttemptId.make("holder")
const other = AttemptId.make("other")

const staged: ImportProcess = {
  key: {
    import_supplier: SupplierCode.make("S"),
    external_account_number: ExternalAccountNumber.make("1")
  },
  skipped: false,
  erased: false,
  lease: null,
  account: null,
  revertedAt: null
}
const lease = { attempt: holder, expiresAt: expiry, isDryRun: false }
const createdAt = DateTime.makeUnsafe("2026-01-01T12:00:30Z")
const account = { number: AccountNumber.make("A-0123ABCD"), createdAt }

const kept = {
  staged,
  skipped: { ...staged, skipped: true },
  leased: { ...staged, lease },
  imported: { ...staged, account }
}

const instants = {
  "long before": DateTime.subtract(expiry, { days: 1 }),
  "a millisecond before": DateTime.subtract(expiry, { milliseconds: 1 }),
  at: expiry,
  "a millisecond after": DateTime.add(expiry, { milliseconds: 1 }),
  "long after": DateTime.add(expiry, { days: 1 })
}

type Row = [
  keyof typeof kept,
  keyof typeof instants,
  ReturnType<typeof stateAt>["_tag"],
  ReturnType<typeof statusOf>,
  boolean,
  boolean
]

const always = (
  name: keyof typeof kept,
  state: Row[2],
  status: Row[3],
  free: boolean
): ReadonlyArray<Row> =>
  (Object.keys(instants) as ReadonlyArray<keyof typeof instants>).map((when) => [
    name,
    when,
    state,
    status,
    free,
    false
  ])

describe("ImportProcess", () => {
  it.each<Row>([
    ...always("staged", "Pending", "UNKNOWN", true),
    ...always("skipped", "Skipped", "UNKNOWN", false),
    ...always("imported", "Imported", "COMPLETED", false),
    ["leased", "long before", "InProgress", "IN_PROGRESS", false, true],
    ["leased", "a millisecond before", "InProgress", "IN_PROGRESS", false, true],
    ["leased", "at", "Pending", "UNKNOWN", true, true],
    ["leased", "a millisecond after", "Pending", "UNKNOWN", true, true],
    ["leased", "long after", "Pending", "UNKNOWN", true, true]
  ])(
    "%s, %s the expiry of its lease, is in the state %s",
    (name, when, state, status, free, held) => {
      const process = kept[name]
      const found = stateAt(process, instants[when])
      expect(found._tag).toBe(state)
      expect(statusOf(found)).toBe(status)
      expect(isFree(found)).toBe(free)
      expect(holds(process, holder), "an expired lease is held until somebody takes it").toBe(held)
      expect(holds(process, other)).toBe(false)
    }
  )

  it("is imported once it has an account, whatever else is recorded", () => {
    const odd = { ...staged, skipped: true, lease, account }
    expect(stateAt(odd, instants["long before"])._tag).toBe("Imported")
    expect(holds(odd, holder)).toBe(false)
  })

  it("has no lease holder while it is skipped", () => {
    const odd = { ...staged, skipped: true, lease }
    expect(stateAt(odd, instants["long before"])._tag).toBe("Skipped")
    expect(holds(odd, holder)).toBe(false)
  })
})
