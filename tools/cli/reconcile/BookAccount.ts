/**
 * A line of a book in the form in which the service stores it. It uses the decoder and encoder of
 * validate, whose answer equals the account that is read back. Rules are not applied: they depend
 * on the day.
 * Source: docs/contract/queries.md#get-an-account.
 */
import { createHash } from "node:crypto"
import { BigDecimal, Result } from "effect"
import {
  Account,
  encodeAccount,
  openingBalance,
  accountTextInSteps
} from "@data-import/domain/accounts/Account"
import { balanceOf } from "@data-import/domain/accounts/Ledger"
import { signedAmount, type Transaction } from "@data-import/domain/accounts/Transaction"
import type { SplitLine } from "@data-import/domain/batches/LineSplitter"
import { decoderOfTree } from "@data-import/domain/schema/Decoder"
import { sum, twoDecimals } from "@data-import/domain/schema/Decimal"
import { FieldErrors } from "@data-import/domain/schema/FieldErrors"
import { isObject } from "@data-import/domain/schema/Json"
import { parseBytesInSteps } from "@data-import/domain/schema/JsonBytes"
import { invalid } from "@data-import/domain/schema/LeafDecoder"
import { decodePartiallyInSteps } from "@data-import/domain/schema/PartialDecoding"
import { schemaTreeOf } from "@data-import/domain/schema/SchemaTree"
import { finish } from "@data-import/domain/support/Steps"

/** The balances of an account at its import, with two decimals each. */
export interface Balances {
  readonly balance: string
  readonly ledger_balances: ReadonlyArray<{
    readonly ledger_code: string
    readonly balance: string
  }>
}

const tree = schemaTreeOf(Account)
const decodeAtOnce = decoderOfTree(tree)

/** Null if it is not an account. A large account is decoded as in the service. */
const decode = (payload: unknown): Account | null => {
  const atOnce = decodeAtOnce(payload)
  if (atOnce !== invalid) return atOnce as Account
  const errors = new FieldErrors()
  const decoded = finish(decodePartiallyInSteps(tree, payload, errors))
  return decoded === invalid || errors.listed.length > 0 ? null : (decoded as Account)
}

const balancesOf = (account: Account): Balances => ({
  balance: twoDecimals(openingBalance(account)),
  ledger_balances: (account.ledgers ?? []).map((ledger) => ({
    ledger_code: ledger.ledger_code,
    balance: twoDecimals(balanceOf(ledger))
  }))
})

/** Accounts with the same text and the same balances have the same fingerprint. */
const fingerprintOf = (text: string, { balance, ledger_balances }: Balances): string => {
  const balances = [balance, ...ledger_balances.flatMap((of) => [of.ledger_code, of.balance])]
  const hash = createHash("sha256").update(text).update(JSON.stringify(balances))
  return hash.digest("base64").slice(0, 22)
}

/** A line that can be an account of the supplier. */
export interface BookAccount {
  readonly number: string
  readonly fingerprint: string
  readonly balances: Balances
  readonly account: Account
}

/** A line from which the service can never make an account. */
export interface InvalidLine {
  /** Null if it has none. */
  readonly number: string | null
  readonly account: null
  /** Its `transfer_balance`; null if there is none that can be read. */
  readonly balance: BigDecimal.BigDecimal | null
}

const plainDecimal = /^[+-]?\d{1,30}(?:\.\d{1,30})?$/

const balanceIn = (payload: unknown): BigDecimal.BigDecimal | null => {
  const stated = isObject(payload) ? payload["transfer_balance"] : undefined
  const text = typeof stated === "number" || typeof stated === "string" ? String(stated) : ""
  return plainDecimal.test(text) ? decimalOf(text) : null
}

const noAccount = (payload: unknown): InvalidLine => {
  const number = isObject(payload) ? payload["external_account_number"] : null
  return {
    number: typeof number === "string" ? number : null,
    account: null,
    balance: balanceIn(payload)
  }
}

/** The payload, as a batch finds it: the account may be wrapped, and need not name its supplier. */
const payloadIn = (line: unknown, supplier: string): unknown => {
  if (!isObject(line)) return line
  const payload = isObject(line["payload"]) ? line["payload"] : line
  return "import_supplier" in payload ? payload : { import_supplier: supplier, ...payload }
}

export const readLine = (bytes: SplitLine, supplier: string): BookAccount | InvalidLine => {
  if (bytes === null) return noAccount(null)
  const parsed = finish(parseBytesInSteps(bytes))
  if (Result.isFailure(parsed)) return noAccount(null)
  const payload = payloadIn(parsed.success, supplier)
  const account = decode(payload)
  if (account === null || account.import_supplier !== supplier) return noAccount(payload)
  const balances = balancesOf(account)
  const fingerprint = fingerprintOf(finish(accountTextInSteps(account)), balances)
  return { number: account.external_account_number, fingerprint, balances, account }
}

/** The account as the service answers it. */
export const wireOf = (account: Account): unknown => encodeAccount(account)

/** The parts of an account that is read back which are compared. */
export interface StoredAccount extends Balances {
  readonly kraken_account_number: string
  readonly external_account_number: string
  readonly account_created_at: string
  readonly account: unknown
  readonly added: {
    readonly transactions: ReadonlyArray<{ readonly amount: string; readonly type: string }>
    readonly notes: ReadonlyArray<unknown>
    readonly statements: ReadonlyArray<unknown>
    readonly payment_instructions: ReadonlyArray<unknown>
  }
}

export const decimalOf = (text: string): BigDecimal.BigDecimal => BigDecimal.fromStringUnsafe(text)

/** The sum of the transactions that were added after the import. */
export const addedBalance = ({ added }: StoredAccount): BigDecimal.BigDecimal =>
  sum(
    added.transactions.map(({ amount, type }) =>
      signedAmount({ amount: decimalOf(amount), type: type as Transaction["type"] })
    )
  )

/** The balances in the service's answer, without additions after the import. */
export const toldBalances = (stored: StoredAccount): Balances => ({
  balance: twoDecimals(BigDecimal.subtract(decimalOf(stored.balance), addedBalance(stored))),
  ledger_balances: stored.ledger_balances
})

export const storedFingerprint = (stored: StoredAccount): string =>
  fingerprintOf(JSON.stringify(stored.account), toldBalances(stored))

/** The balances that follow from the stored account; null if this release cannot decode it. */
export const expectedBalances = ({ account }: StoredAccount): Balances | null => {
  const decoded = decode(account)
  return decoded === null ? null : balancesOf(decoded)
}
