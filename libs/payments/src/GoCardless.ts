/**
 * GoCardless: a direct debit mandate (`MD…`), and the bank account that it draws on. Source:
 * GoCardless' API reference, "Mandates" and "Customer bank accounts", of the version that the
 * header names.
 */
import { Effect, Schema } from "effect"
import { rejected, type VendorDefinition } from "./VendorDefinition.ts"

const Word = Schema.String.check(Schema.isBetweenLength(1, 64))

const Mandate = Schema.Struct({
  mandates: Schema.Struct({
    status: Word,
    scheme: Word,
    links: Schema.Struct({ customer_bank_account: Schema.String })
  })
})

const BankAccount = Schema.Struct({
  customer_bank_accounts: Schema.Struct({
    bank_name: Schema.NullOr(Schema.String.check(Schema.isMaxLength(256)))
  })
})

/** In these states payments can be collected; the bank has yet to confirm the first two. */
const collectable: ReadonlySet<string> = new Set(["pending_submission", "submitted", "active"])

/** In these schemes the payer sends the money. */
const sentByPayer: ReadonlySet<string> = new Set(["faster_payments", "pay_to"])

export const goCardless: VendorDefinition = {
  code: "GOCARDLESS",
  url: "https://api.gocardless.com",
  type: "DIRECT_DEBIT",
  headers: { "gocardless-version": "2015-07-06" },
  verify: Effect.fnUntraced(function* (read, reference) {
    const { links, scheme, status } = (yield* read(["mandates", reference], Mandate)).mandates
    if (sentByPayer.has(scheme)) return yield* rejected("wrong_type")
    if (!collectable.has(status)) return yield* rejected("inactive")
    const path = ["customer_bank_accounts", links.customer_bank_account]
    const account = yield* read(path, BankAccount)
    const bankName = account.customer_bank_accounts.bank_name
    return { _tag: "DirectDebit" as const, bankName, status }
  })
}
