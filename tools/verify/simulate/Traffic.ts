/**
 * The next request, drawn from few suppliers, imports, ids and texts, so that requests collide,
 * repeat and contradict each other.
 */
import { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { TimeZone } from "@data-import/domain/suppliers/BusinessDay"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { IdempotencyKey } from "@data-import/domain/idempotency/IdempotencyKey"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { SupplierCode, type SupplierStatus } from "@data-import/domain/suppliers/Supplier"
import type { Wire } from "@data-import/domain/testing/wire"
import type { Conditions } from "./Conditions.ts"
import type { RandomSource } from "@data-import/testbed/RandomSource"
import { breakages, payloadCount, transactionIdsOf, versionOf } from "./Payloads.ts"
import type { Order, SingleOrder } from "./Request.ts"

export const own = OrganisationName.make("own")
export const rival = OrganisationName.make("rival")

/** The supplier that the operator sets up while its clients already write. */
export const lateSupplier = SupplierCode.make("LATE")

/** Who owns which supplier, the late one included. */
export const owners: ReadonlyMap<SupplierCode, OrganisationName> = new Map([
  [SupplierCode.make("OWN_A"), own],
  [SupplierCode.make("OWN_B"), own],
  [SupplierCode.make("RIVAL"), rival],
  [lateSupplier, own]
])

/** The suppliers whose customers are to get e-mails. */
export const emailing: ReadonlySet<SupplierCode> = new Set([SupplierCode.make("OWN_B")])

/** The time zones of the suppliers' business days; UTC for the others. */
export const timeZones: ReadonlyMap<SupplierCode, TimeZone> = new Map([
  [SupplierCode.make("OWN_A"), TimeZone.make("Pacific/Apia")],
  [SupplierCode.make("OWN_B"), TimeZone.make("Pacific/Pago_Pago")],
  [lateSupplier, TimeZone.make("Australia/Lord_Howe")]
])

export const team = "Migration Team"

const numbers = ["1001", "a/b %2F ü", "\u{1F600} beyond", "\uFF5E before"].map((number) =>
  ExternalAccountNumber.make(number)
)

/** Additional imports of the first supplier in a run with batches. */
const numbersOfBatches = ["B-1", "B-2", "B-3"].map((number) => ExternalAccountNumber.make(number))

/** The imports of a run: those of the first supplier, and one of every other. */
export const keysOf = ({ batches, keys }: Conditions): ReadonlyArray<ImportKey> =>
  [...owners.keys()].flatMap((import_supplier, index) =>
    (index === 0
      ? [...numbers.slice(0, keys), ...(batches ? numbersOfBatches : [])]
      : numbers.slice(0, 1)
    ).map((external_account_number) => ({ import_supplier, external_account_number }))
  )

/** The values from which the next order is drawn. */
export interface Situation {
  readonly random: RandomSource
  readonly conditions: Conditions
  readonly keys: ReadonlyArray<ImportKey>
  /** The instant, in milliseconds. */
  readonly now: number
  /** The numbers of the present account of an import, and of those that were reverted. */
  readonly accountsOf: (key: ImportKey) => {
    readonly present: AccountNumber | null
    readonly past: ReadonlyArray<AccountNumber>
  }
  /** The payload that is staged or imported under the key. */
  readonly staged: (key: ImportKey) => Wire | null
  /** A number that no payload of the run has had. */
  readonly newVersion: () => number
  /** Idempotency keys that clients of any organisation have sent recently. */
  readonly sentKeys: ReadonlyArray<IdempotencyKey>
}

const dayMillis = 24 * 60 * 60 * 1000

/** The day this many days after the instant. */
const dayAt = (now: number, days: number): string =>
  new Date(now + days * dayMillis).toISOString().slice(0, 10)

const account = (
  { conditions, random, newVersion }: Situation,
  key: ImportKey
): Omit<Order<"stage">, "kind"> => {
  const version = newVersion()
  const payload = versionOf(random.below(payloadCount), key, version)
  if (!random.chance(conditions.broken)) return { key, version, payload, broken: null }
  const [broken, breakUp] = random.pick(Object.entries(breakages))
  return { key, version, payload: breakUp(payload), broken }
}

/** A staging of the import. */
export const accountOrder = (situation: Situation, key: ImportKey): Order<"stage"> => ({
  kind: "stage",
  ...account(situation, key)
})

const many = <A>(random: RandomSource, most: number, make: () => A): ReadonlyArray<A> =>
  Array.from({ length: 1 + random.below(most) }, make)

const created_at = ["2026-01-02T08:00:00Z", "2025-11-30T23:59:59+02:00", "2026-01-14T07:30:00.250Z"]

const note = (random: RandomSource): Wire => ({
  ...(random.chance(0.8)
    ? { body: random.pick(["moved in", " moved in", "asked for a call", "漢 owes", "moved out"]) }
    : { document_paths: [{ document_path: random.pick(["n/1.pdf", "/n/1.pdf", "n/2.pdf"]) }] }),
  ...(random.chance(0.4) ? { created_at: random.pick(created_at) } : {}),
  ...(random.chance(0.2) ? { is_pinned: random.chance(0.5) } : {})
})

export const notesOrder = ({ conditions, random }: Situation, key: ImportKey): Order<"notes"> => {
  const sent = many(random, 3, () => note(random))
  const isBroken = random.chance(conditions.broken)
  const broken = isBroken ? "a note that says nothing" : null
  return { kind: "notes", key, notes: isBroken ? [...sent, {}] : sent, broken }
}

const transaction = ({ random, now, staged }: Situation, key: ImportKey): Wire => {
  const type = random.pick(["PAYMENT", "CREDIT", "CHARGE", "REPAYMENT"])
  const cents = 1 + random.below(100_000_00)
  const sign = type === "CHARGE" && random.chance(0.2) ? "-" : ""
  const amount = `${sign}${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`
  const ofPayload = transactionIdsOf(staged(key) ?? {})
  return {
    transaction_id: random.pick(["t1", "t2", "t3", "t4", "t5", "t6", ...ofPayload]),
    transaction_date: dayAt(now, random.below(40) - 36),
    amount: random.chance(0.5) ? Number(amount) : amount,
    type,
    ...(random.chance(0.3) ? { display_note: "as told" } : {})
  }
}

export const transactionsOrder = (situation: Situation, key: ImportKey): Order<"transactions"> => {
  const { conditions, random } = situation
  const sent = many(random, 3, () => transaction(situation, key))
  const isBroken = random.chance(conditions.broken)
  return {
    kind: "transactions",
    key,
    transactions: isBroken ? sent.map((each) => ({ ...each, amount: "much" })) : sent,
    check: random.chance(0.8),
    force: random.chance(0.7),
    broken: isBroken ? "amounts that are none" : null
  }
}

const statement = (random: RandomSource, statement_id: string): Wire => ({
  statement_id,
  bill_period_from_date: random.pick(["2025-01-01", "2025-01-02"]),
  bill_period_to_date: "2025-01-31",
  ...(random.chance(0.3) ? { gross_amount: random.pick([12.5, "12.50", 13]) } : {}),
  ...(random.chance(0.2) ? { statement_path: random.pick(["s/1.pdf", "/s/1.pdf"]) } : {}),
  ...(random.chance(0.2) ? { number: "N-1", issued_date: "2025-02-01" } : {})
})

const statements = ({ conditions, random }: Situation, key: ImportKey): SingleOrder => {
  const ids = ["s1", "s2", "s3"].filter(() => random.chance(0.5))
  const sent = (ids.length === 0 ? ["s1"] : ids).map((id) => statement(random, id))
  const isBroken = random.chance(conditions.broken)
  return {
    kind: "statements",
    key,
    statements: isBroken ? [...sent, { ...statement(random, "s9"), issued_date: "soon" }] : sent,
    broken: isBroken ? "a date that is none" : null
  }
}

const instruction = ({ conditions, random }: Situation, key: ImportKey): SingleOrder => {
  const isBroken = random.chance(conditions.broken)
  const [vendor, type] = random.pick([
    ["STRIPE", "CARD"],
    ["GOCARDLESS", "DIRECT_DEBIT"]
  ])
  const reference = random.weighted([
    [6, "ref-1"],
    [2, "ref-2"],
    [1, "ref-missing"],
    [1, "ref-down"],
    [1, "ref-fault_redirect"]
  ])
  return {
    kind: "instruction",
    key,
    instruction: { vendor, reference, type: isBroken ? "CASH" : type },
    broken: isBroken ? "a type that is none" : null
  }
}

/** A process of the import. */
export const processOrder = (
  { conditions, random }: Situation,
  key: ImportKey
): Order<"process"> => ({
  kind: "process",
  key,
  dryRun: random.chance(conditions.dryRuns),
  team: random.chance(0.05) ? "Nobody's Team" : team
})

const unknownNumber = AccountNumber.make("A-0000DEAD")

/** A revert, mostly of the present account. */
export const revertOrder = ({ accountsOf, random }: Situation, key: ImportKey): Order<"revert"> => {
  const { past, present } = accountsOf(key)
  return {
    kind: "revert",
    key,
    number: random.weighted([
      [present === null ? 0 : 8, present ?? unknownNumber],
      [past.length === 0 ? 0 : 1.5, past.at(-1 - random.below(2)) ?? past[0] ?? unknownNumber],
      [0.5, unknownNumber]
    ]),
    withAdditions: random.chance(0.7),
    dryRun: random.chance(0.15)
  }
}

const onImport = (situation: Situation, key: ImportKey): SingleOrder => {
  const { accountsOf, random, staged } = situation
  const isImported = accountsOf(key).present !== null
  const added = isImported ? 4 : 0.2
  const before = isImported ? 1 : 6
  return random.weighted<() => SingleOrder>([
    [before, () => accountOrder(situation, key)],
    [0.3, () => ({ kind: "validate", ...account(situation, key) })],
    [staged(key) === null ? 0.5 : 1.5 * before, () => processOrder(situation, key)],
    [1, () => ({ kind: "status", key })],
    [added, () => notesOrder(situation, key)],
    [added, () => transactionsOrder(situation, key)],
    [added, () => statements(situation, key)],
    [added, () => instruction(situation, key)],
    [isImported ? 1 : 0.1, () => revertOrder(situation, key)]
  ])()
}

const list = ({ random }: Situation, key: ImportKey): SingleOrder => ({
  kind: "list",
  supplier: key.import_supplier,
  list: random.pick(["all", "pending", "imported"]),
  limit: random.chance(0.5) ? 1 + random.below(2) : null,
  after: random.chance(0.3) ? random.pick(numbers) : null
})

const statuses: ReadonlyArray<SupplierStatus> = [
  ...Array.from({ length: 4 }, () => "Ongoing" as const),
  "Paused",
  "Complete"
]

/** An import, often the first one, so that requests collide on it. */
const anImport = ({ conditions, random, keys }: Situation): ImportKey =>
  random.chance(conditions.hot) && keys[0] !== undefined ? keys[0] : random.pick(keys)

/** The direct sequence of orders from an import to its account. */
export const straightOrders = (
  situation: Situation,
  key: ImportKey
): ReadonlyArray<SingleOrder> => [
  {
    kind: "stage",
    key,
    version: situation.newVersion(),
    payload: versionOf(situation.random.below(payloadCount), key, situation.newVersion()),
    broken: null
  },
  { kind: "process", key, dryRun: false, team }
]

/** The next request of a client. */
export const clientsOrder = (situation: Situation): SingleOrder => {
  const key = anImport(situation)
  return situation.random.chance(0.06) ? list(situation, key) : onImport(situation, key)
}

/** The idempotency key of a new request: none, a new one, or by mistake that of another. */
export const keyFor = (situation: Situation): IdempotencyKey | null => {
  const { conditions, random, newVersion, sentKeys } = situation
  if (!random.chance(conditions.keyed)) return null
  return sentKeys.length > 0 && random.chance(0.08)
    ? random.pick(sentKeys)
    : IdempotencyKey.make(`k${newVersion()}`)
}

/** The next command of the operator. */
export const operatorsOrder = (situation: Situation): SingleOrder => {
  const { random } = situation
  const key = anImport(situation)
  const supplier = key.import_supplier
  return random.weighted<SingleOrder>([
    [4, { kind: "skip", key, skipped: random.chance(0.5) }],
    [3, { kind: "setStatus", supplier, to: random.pick(statuses), reopen: random.chance(0.7) }],
    [1, { kind: "setWindow", supplier, days: random.pick([0, 1, 3, 14]) }],
    [2, { kind: "createSupplier", supplier: lateSupplier, organisation: own }]
  ])
}
