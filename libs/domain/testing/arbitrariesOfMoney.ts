/**
 * Ledgers whose sums add up exactly. Everything is computed in integers of the smallest unit and
 * then written as a number or a decimal string, so that the tests do not use the domain's
 * arithmetic as their oracle.
 */
import { DateTime } from "effect"
import fc from "fast-check"
import { paymentTypes } from "../src/accounts/Transaction.ts"
import { day, filled, optionally, text } from "./arbitrariesOfFields.ts"
import type { Wire } from "./wire.ts"

/** `units` times 10^-scale, as a decimal string. */
const inDigits = (units: bigint, scale: number): string => {
  const sign = units < 0n ? "-" : ""
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0")
  return scale === 0
    ? `${sign}${digits}`
    : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** The decimal as it may be sent: a number, or a string with or without more zeros. */
const decimal = (units: bigint, scale: number): fc.Arbitrary<number | string> => {
  const digits = inDigits(units, scale)
  const short = digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits
  return fc.constantFrom(
    Number(digits),
    Number(digits),
    digits,
    short,
    `${digits.includes(".") ? digits : `${digits}.`}000`
  )
}

const powerOfTen = (exponent: number): bigint => 10n ** BigInt(exponent)

/** Fewer decimals, rounded half away from zero. */
const rounded = (units: bigint, from: number, to: number): bigint => {
  if (from <= to) return units * powerOfTen(to - from)
  const step = powerOfTen(from - to)
  const size = units < 0n ? -units : units
  const steps = (size + step / 2n) / step
  return units < 0n ? -steps : steps
}

/** A transaction, and its effect on the balance in hundredths. */
interface Counted {
  readonly transaction: Wire
  readonly effect: bigint
}

const cents = (min: bigint) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.bigInt({ min: min < -100_000n ? -100_000n : min, max: 100_000n }) },
    { weight: 1, arbitrary: fc.bigInt({ min, max: 10_000_000_000n }) }
  )

const noteFields = { display_note: text(2_000), note: text(2_000) }

const plain = (type: "CHARGE" | "CREDIT" | "PAYMENT" | "REPAYMENT"): fc.Arbitrary<Counted> => {
  const isPayment = type === "PAYMENT" || type === "REPAYMENT"
  const fields = isPayment
    ? { reference: text(512), payment_type: fc.constantFrom(...(paymentTypes[type] ?? [])) }
    : type === "CHARGE"
      ? {
          tax_items: fc.array(
            taxItem.map(({ item }) => item),
            { maxLength: 2 }
          )
        }
      : {}
  return cents(isPayment ? 1n : -10_000_000_000n).chain((amount) =>
    optionally(
      { type: fc.constant(type), amount: decimal(amount, 2) },
      { reason: text(128), ...noteFields, ...fields }
    ).map((transaction) => ({
      transaction,
      effect: type === "PAYMENT" || type === "CREDIT" ? amount : -amount
    }))
  )
}

const epoch = DateTime.makeUnsafe("2020-01-01T00:00:00Z")

/** The number of decimals in which a charge is computed: the maximum of a net amount. */
const fine = 10

const taxItem = fc
  .tuple(fc.bigInt({ min: -(10n ** 7n), max: 10n ** 7n }), fc.integer({ min: 0, max: 5 }))
  .chain(([units, scale]) =>
    fc
      .record({
        amount: decimal(units, scale),
        tax_type: filled(32),
        value_taxed: decimal(units, scale),
        rate: fc.constantFrom(0.25, "0.25000", 0, "-1", 15),
        unit_type: fc.constantFrom("PROPORTION", "CURRENCY_PER_KWH")
      })
      .map((item) => ({ item, net: units * powerOfTen(fine - scale) }))
  )

const lineItem = fc
  .tuple(
    fc.bigInt({ min: 0n, max: 10n ** 8n }),
    fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }),
    fc.integer({ min: 2, max: 8 }),
    fc.boolean(),
    fc.integer({ min: -1_000, max: 1_000 })
  )
  .chain(([quantity, price, scale, isPriced, from]) => {
    // Ten thousandths of a unit at ten millionths of the currency.
    const net = rounded(quantity * price, 11, scale)
    return fc
      .tuple(day(epoch, from, from), day(epoch, from, from + 1_000))
      .chain(([start_date, end_date]) =>
        optionally(
          {
            start_date: fc.constant(start_date),
            end_date: fc.constant(end_date),
            number_of_units: decimal(quantity, 4),
            net_amount: decimal(net, scale),
            ...(isPriced ? { price_per_unit: decimal(price, 7) } : {})
          },
          { rate_band: filled(64), units: fc.tuple(decimal(quantity, 4), decimal(1n, 4)) }
        )
      )
      .map((item) => ({ item, net: net * powerOfTen(fine - scale) }))
  })

const supplyCharge: fc.Arbitrary<Counted> = fc
  .tuple(
    fc.array(lineItem, { minLength: 1, maxLength: 3 }),
    fc.array(taxItem, { maxLength: 2 }),
    filled(64)
  )
  .chain(([lines, taxes, product]) => {
    const total = [...lines, ...taxes].reduce((sum, { net }) => sum + net, 0n)
    const amount = rounded(total, fine, 2)
    return optionally({ amount: decimal(amount, 2) }, noteFields).map((fields) => ({
      transaction: {
        ...fields,
        type: "SUPPLY_CHARGE",
        product_code: product,
        line_items: lines.map(({ item }) => item),
        ...(taxes.length > 0 ? { tax_items: taxes.map(({ item }) => item) } : {})
      },
      effect: -amount
    }))
  })

const transaction = fc.oneof(
  plain("PAYMENT"),
  plain("CREDIT"),
  plain("CHARGE"),
  plain("REPAYMENT"),
  supplyCharge
)

const sumOf = (transactions: ReadonlyArray<Counted>): bigint =>
  transactions.reduce((sum, { effect }) => sum + effect, 0n)

/** A ledger with its balance in hundredths; null if it has none. */
interface CountedLedger {
  readonly ledger: Wire
  readonly balance: bigint
}

/** Every transaction gets an id of its own, and a day on its side of the closing date. */
const dated = (
  transactions: ReadonlyArray<Counted>,
  prefix: string,
  days: fc.Arbitrary<string>
): fc.Arbitrary<ReadonlyArray<Wire>> =>
  fc.array(days, { minLength: transactions.length, maxLength: transactions.length }).map((dates) =>
    transactions.map(({ transaction: fields }, index) => ({
      transaction_id: `${prefix}${index}`,
      transaction_date: dates[index],
      ...fields
    }))
  )

const ledger = (now: DateTime.Utc, index: number): fc.Arbitrary<CountedLedger> =>
  fc
    .tuple(
      fc.array(transaction, { maxLength: 3 }),
      fc.array(transaction, { maxLength: 3 }),
      fc.integer({ min: -4_000, max: 0 }),
      fc.boolean(),
      fc.boolean(),
      fc.bigInt({ min: -1_000_000n, max: 1_000_000n }),
      filled(60)
    )
    .chain(([history, present, closing, isClosed, hasBalance, before, code]) => {
      const hasHistory = isClosed && history.length > 0
      const last = hasHistory ? sumOf(history) : before
      // A ledger that was closed today cannot have later transactions.
      const current = isClosed && closing === 0 ? [] : present
      const balance = last + sumOf(current)
      return optionally(
        {
          ledger_code: fc.constant(`${code.trim()}-${index}`),
          last_statement_balance: decimal(last, 2),
          current_statement_transactions: dated(
            current,
            `c${index}-`,
            day(now, isClosed ? Math.min(closing + 1, 0) : -40_000, 0)
          ),
          ...(isClosed ? { last_statement_closing_date: day(now, closing, closing) } : {}),
          ...(hasHistory
            ? {
                historical_statement_transactions: dated(
                  history,
                  `h${index}-`,
                  day(now, -40_000, closing)
                )
              }
            : {}),
          ...(hasBalance ? { ledger_balance: decimal(balance, 2) } : {})
        },
        hasHistory ? {} : { historical_statement_transactions: fc.constant([]) }
      ).map((fields) => ({ ledger: fields, balance }))
    })

/** The ledgers of an account and its transfer balance: either, both, or neither. */
export const ledgers = (now: DateTime.Utc): fc.Arbitrary<Wire> =>
  fc
    .integer({ min: 0, max: 3 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => ledger(now, index))))
    .chain((all) => {
      const total = all.reduce((sum, { balance }) => sum + balance, 0n)
      return optionally(
        all.length > 0 ? { ledgers: fc.constant(all.map(({ ledger: fields }) => fields)) } : {},
        {
          transfer_balance:
            all.length > 0 ? decimal(total, 2) : cents(-10_000_000n).chain((any) => decimal(any, 2))
        }
      )
    })
