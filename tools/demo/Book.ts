/**
 * The book of a supplier: accounts on 2,000 lines, as exported from an old system. A tenth of the
 * lines is faulty, in five ways, and a few account numbers are on two lines.
 */
import { domesticPayload } from "@data-import/domain/testing/samples"

/** Lines are numbered from 1. */
export const lineCount = 2_000

const lines = Array.from({ length: lineCount }, (_, index) => index + 1)

const isFaulty = (line: number): boolean => line % 10 === 0

/** The line of the same account number that comes before this one; null for most lines. */
const earlierOf = (line: number): number | null => {
  if (line < 500) return null
  // The faulty line before it, corrected.
  if (line % 500 === 1) return line - 1
  // A valid line, repeated unchanged.
  return line % 500 === 2 ? line - 4 : null
}

export const isCorrection = (line: number): boolean => isFaulty(earlierOf(line) ?? 1)
export const isCopy = (line: number): boolean => earlierOf(line) !== null && !isCorrection(line)

const numberOf = (book: string, line: number): string =>
  `${book}-${String(earlierOf(line) ?? line).padStart(4, "0")}`

const accountOf = (book: string, line: number) => {
  const { import_supplier: _, notes: __, statements: ___, ...payload } = domesticPayload()
  return { ...payload, external_account_number: numberOf(book, line) }
}

type Account = ReturnType<typeof accountOf>

interface Fault {
  /** The code of the answer, and of each error with its place. */
  readonly code: string
  readonly errors: ReadonlyArray<{ readonly code: string; readonly attr: string }>
  readonly lineOf: (account: Account) => string
}

const invalid = (
  errors: Fault["errors"],
  change: (account: Account) => Readonly<Record<string, unknown>>
): Fault => ({
  code: "account_failed_validation",
  errors,
  lineOf: (account) => JSON.stringify({ ...account, ...change(account) })
})

const ofFirstCustomer =
  (values: Readonly<Record<string, string>>) =>
  ({ customers: [first, ...others] }: Account) => ({
    customers: [{ ...first, ...values }, ...others]
  })

const phone = invalid(
  [{ code: "invalid_phone_number", attr: "customers.0.landline" }],
  ofFirstCustomer({ landline: "0045 33" })
)
const date = invalid(
  [{ code: "invalid_date", attr: "customers.0.date_of_birth" }],
  ofFirstCustomer({ date_of_birth: "1981-02-30" })
)
const colour = invalid([{ code: "unknown_field", attr: "favourite_colour" }], () => ({
  favourite_colour: "blue"
}))
const sum = invalid(
  [
    { code: "balance_mismatch_on_ledger_balance", attr: "ledgers.0" },
    { code: "ledger_balances_not_equal_to_transfer_balance", attr: "non_field_errors" }
  ],
  ({ ledgers }) => ({ ledgers: ledgers.map((ledger) => ({ ...ledger, ledger_balance: 51 })) })
)
const cutOff: Fault = {
  code: "parse_error",
  errors: [],
  lineOf: (account) => JSON.stringify(account).slice(0, -1)
}

/** Every tenth line, in turn. */
const faults = [phone, phone, phone, phone, phone, date, date, colour, sum, cutOff] as const

const faultOf = (line: number): Fault | null =>
  isFaulty(line) ? (faults[(line / 10) % faults.length] ?? phone) : null

/** The book as it is sent. */
export const linesOf = (book: string): ReadonlyArray<string> =>
  lines.map((line) => {
    const account = accountOf(book, line)
    return faultOf(line)?.lineOf(account) ?? JSON.stringify(account)
  })

/** The given lines without their faults. */
export const corrected = (book: string, failed: ReadonlyArray<number>): ReadonlyArray<string> =>
  failed.map((line) => JSON.stringify(accountOf(book, line)))

/** The lines that must fail, each with its expected error. */
export const failures = (book: string) =>
  lines.flatMap((line) => {
    const fault = faultOf(line)
    if (fault === null) return []
    const { code, errors } = fault
    const number = fault === cutOff ? null : numberOf(book, line)
    const error = errors.length > 0 ? { code, errors } : { code }
    return [{ line, external_account_number: number, outcome: "FAILED", status: 400, error }]
  })

/** How many lines meet a condition. */
export const count = (isCounted: (line: number) => boolean): number =>
  lines.filter(isCounted).length

/** All account numbers of the book, in their order. */
export const numbersOf = (book: string): ReadonlyArray<string> =>
  [...new Set(lines.map((line) => numberOf(book, line)))].toSorted()

/** What the problems of the book must be: lines, and those that are cleared so far. */
export const problems = (
  [
    ["invalid_phone_number", "customers.*.landline", 100, 100],
    ["invalid_date", "customers.*.date_of_birth", 40, 140],
    ["balance_mismatch_on_ledger_balance", "ledgers.*", 20, 140],
    ["ledger_balances_not_equal_to_transfer_balance", "non_field_errors", 20, 160],
    ["parse_error", "non_field_errors", 20, 180],
    ["unknown_field", "favourite_colour", 20, 200]
  ] as const
).map(([code, attr, lines, cleared_lines]) => ({ code, attr, lines, cleared_lines }))
