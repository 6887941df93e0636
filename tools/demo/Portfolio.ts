/**
 * Forty migrations in different states of trouble, for the board: the data that is sent for each,
 * and what causes its state. Each is filled through the interfaces of clients and of the board.
 */
import { TimeZone } from "@data-import/domain/organisation/BusinessDay"
import { domesticPayload } from "@data-import/domain/testing/samples"

type Trouble =
  | "stuck"
  | "failing"
  | "slow"
  | "waiting"
  | "paused"
  | "running"
  | "importing"
  | "done"
  | "signed off"
  | "empty"

export interface Migration {
  readonly code: string
  readonly trouble: Trouble
  /** How many lines are imported, and how many are only staged. */
  readonly imported: number
  readonly staged: number
  /** One of this many lines is faulty; 0 for none. */
  readonly faultEach: number
  /** The batch is paused after this many failures. */
  readonly maxFailures: number | null
  /** How many accounts should have been imported by yesterday, and at the end. */
  readonly plan: { readonly yesterday: number; readonly end: number } | null
}

const places =
  "AARHUS BERGEN CORK DELFT ESBJERG FLORO GENT HAMAR INNSBRUCK JYVASKYLA KOLDING LAHTI MALMO NARVIK ODENSE".split(
    " "
  )
const kinds = ["ENERGY", "WATER", "TELECOM"]

/** The number of migrations of each kind. */
const numbers: ReadonlyArray<readonly [Trouble, number]> = [
  ["stuck", 2],
  ["failing", 5],
  ["slow", 4],
  ["waiting", 5],
  ["paused", 3],
  ["running", 8],
  ["importing", 2],
  ["done", 6],
  ["signed off", 4],
  ["empty", 1]
]

const shapeOf = (trouble: Trouble, index: number): Omit<Migration, "code" | "trouble"> => {
  const size = 150 + ((index * 67) % 350)
  const plain = { imported: size, staged: 0, faultEach: 0, maxFailures: null, plan: null }
  switch (trouble) {
    case "stuck":
      return { ...plain, imported: 600, faultEach: 4, maxFailures: 5 }
    case "failing":
      return { ...plain, staged: size, faultEach: 3 + index, plan: planOf(size * 2) }
    case "slow":
      return { ...plain, staged: 4 * size, plan: { yesterday: 3 * size, end: 5 * size } }
    case "waiting":
      return { ...plain, imported: 0, staged: size }
    case "paused":
      return { ...plain, staged: size }
    case "running":
      return { ...plain, staged: size, plan: planOf(size * 2) }
    case "importing":
      return { ...plain, imported: 20_000 }
    case "done":
    case "signed off":
      return plain
    case "empty":
      return { ...plain, imported: 0 }
  }
}

/** A plan that has been met so far. */
const planOf = (end: number) => ({ yesterday: Math.floor(end / 10), end })

export const portfolio: ReadonlyArray<Migration> = numbers
  .flatMap(([trouble, number]) => Array.from({ length: number }, () => trouble))
  .map((trouble, index) => {
    const place = places[index % places.length] ?? ""
    const kind = kinds[Math.floor(index / places.length)] ?? ""
    return { code: `${place}_${kind}`, trouble, ...shapeOf(trouble, index) }
  })

type Account = ReturnType<typeof accountOf>

const accountOf = (number: string) => {
  const { import_supplier: _, notes: __, statements: ___, ...payload } = domesticPayload()
  return { ...payload, external_account_number: number }
}

const ofFirstCustomer = (account: Account, values: Readonly<Record<string, string>>) => {
  const [first, ...others] = account.customers
  return { ...account, customers: [{ ...first, ...values }, ...others] }
}

type Fault = (account: Account) => unknown

/** Refused when they are staged. */
const invalid: ReadonlyArray<Fault> = [
  (account) => ofFirstCustomer(account, { landline: "0045 33" }),
  (account) => ofFirstCustomer(account, { date_of_birth: "1981-02-30" }),
  (account) => ({ ...account, favourite_colour: "blue" })
]

const withoutFile = (account: Account) => ({
  ...account,
  notes: [{ body: "Meter read", document_paths: [{ document_path: "notes/lost.pdf" }] }]
})

/**
 * Faults that pass staging while documents are not checked and the supplier has the time zone whose
 * day begins first. They fail when they are processed after both have changed.
 */
const late = (lastDay: string): ReadonlyArray<Fault> => [
  withoutFile,
  (account) => ofFirstCustomer(account, { date_of_birth: lastDay }),
  withoutFile,
  (account) => ofFirstCustomer(withoutFile(account), { date_of_birth: lastDay })
]

/** The zone in which a day begins first, and the one in which it begins last. */
export const firstZone = TimeZone.make("Pacific/Kiritimati")
export const lastZone = TimeZone.make("Pacific/Pago_Pago")

/** The time zone of the demo's suppliers. */
export const homeZone = TimeZone.make("Europe/London")

const waves = ["wave-1", "wave-2", null]

interface Lines {
  readonly from: number
  readonly to: number
  /** One of this many lines is faulty; 0 for none. */
  readonly faultEach: number
  /** Today in the first zone for faults that are found late; null for those that are found at once. */
  readonly lastDay: string | null
}

/** The lines from one number to another; two of three have a cohort. */
export const linesOf = ({ faultEach, from, lastDay, to }: Lines): ReadonlyArray<string> => {
  const faults = lastDay === null ? invalid : late(lastDay)
  return Array.from({ length: to - from }, (_, index) => {
    const position = from + index
    const account = accountOf(`A-${String(position).padStart(6, "0")}`)
    const isFaulty = faultEach > 0 && position % faultEach === faultEach - 1
    const fault = faults[Math.floor(position / faultEach) % faults.length]
    const payload = isFaulty && fault !== undefined ? fault(account) : account
    const cohort = waves[position % waves.length]
    return JSON.stringify(cohort === null ? { payload } : { payload, cohort })
  })
}
