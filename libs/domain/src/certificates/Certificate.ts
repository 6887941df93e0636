/**
 * A certificate: what was migrated for an import supplier, or for a cohort of it, at one instant.
 * It is the payload of a signed record (JWS), which anybody can verify with the published keys.
 */
import { Schema } from "effect"
import { type Transaction, TransactionType } from "../accounts/Transaction.ts"

/** The `typ` in the header of the record. No token has it. */
export const certificateType = "data-import-certificate"

/** SHA-256 in lower-case hexadecimal. */
const Hash = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))
const Money = Schema.String.check(Schema.isPattern(/^-?\d+\.\d\d$/))
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** `amount` is the sum of the amounts as they were sent; `type` tells their direction. */
export const CertifiedSums = Schema.Struct({
  balance_as_imported: Money,
  balance_added: Money,
  balance: Money,
  ledger_balances: Schema.Array(
    Schema.Struct({ ledger_code: Schema.String, ledgers: Count, balance: Money })
  ),
  transactions: Schema.Array(
    Schema.Struct({
      type: TransactionType,
      reason: Schema.NullOr(Schema.String),
      count: Count,
      amount: Money
    })
  ),
  statements: Schema.Struct({ count: Count, gross_amount: Money })
})
export type CertifiedSums = typeof CertifiedSums.Type

type Ledgers = ReadonlyArray<readonly [code: string, hundredths: string]>
type Transactions = ReadonlyArray<
  readonly [type: Transaction["type"], reason: string | null, count: number, hundredths: string]
>

/**
 * What an account adds to the sums. It is JSON: money is in units of 0.01, as text that holds any
 * integer.
 */
export interface AccountSums {
  readonly imported: string
  readonly added: string
  readonly ledgers: Ledgers
  readonly transactions: Transactions
  readonly statements: readonly [count: number, hundredths: string]
}

/** Counts and the root of the documents that the accounts name. */
const CertifiedDocuments = Schema.Struct({
  count: Count,
  bytes: Count,
  root: Hash,
  without_checksum: Count
})

/** What was expected, and whether it is exactly what is certified. */
const CertifiedExpectation = Schema.Struct({
  accounts: Count,
  balance: Schema.NullOr(Money),
  ledger_balances: Schema.NullOr(
    Schema.Array(Schema.Struct({ ledger_code: Schema.String, balance: Money }))
  ),
  matches: Schema.Boolean
})

/** A later version is refused, because its root may mean something else. */
export const Certificate = Schema.Struct({
  certificate_id: Schema.String,
  import_supplier: Schema.String,
  cohort: Schema.NullOr(Schema.String),
  at: Schema.String,
  tree_size: Count,
  root: Hash,
  states: Schema.Record(Schema.String, Count),
  ...CertifiedSums.fields,
  documents: CertifiedDocuments,
  control_totals: Schema.NullOr(CertifiedExpectation),
  erased: Count,
  reverted: Count,
  hash_recomputed: Count,
  version: Schema.Literal(1),
  iss: Schema.String,
  mode: Schema.Literals(["live", "test"]),
  issued_by: Schema.Struct({
    organisation: Schema.String,
    role: Schema.String,
    id: Schema.String
  }),
  previous: Schema.NullOr(Schema.Struct({ certificate_id: Schema.String, jws_sha256: Hash }))
})
export type Certificate = typeof Certificate.Type

/** What can be computed from the accounts alone, without the service. */
export interface LocalCertificate extends CertifiedSums {
  readonly tree_size: number
  readonly root: string
  readonly documents: { readonly count: number }
}

/** A sum that differs. Null on the side that has no such ledger or kind of transaction. */
export interface CertificateDifference {
  readonly name: string
  readonly local: string | null
  readonly certified: string | null
}

/** What is compared, by name and as text. */
const comparedOf = (of: LocalCertificate): ReadonlyMap<string, string> =>
  new Map([
    ["tree_size", String(of.tree_size)],
    ["root", of.root],
    ["balance_as_imported", of.balance_as_imported],
    ["balance_added", of.balance_added],
    ["balance", of.balance],
    ...of.ledger_balances.map(({ balance, ledger_code, ledgers }): [string, string] => [
      `ledger_balances ${ledger_code}`,
      `${balance} (${ledgers})`
    ]),
    ...of.transactions.map(({ amount, count, reason, type }): [string, string] => [
      `transactions ${reason === null ? type : `${type} ${reason}`}`,
      `${amount} (${count})`
    ]),
    ["statements", `${of.statements.gross_amount} (${of.statements.count})`],
    ["documents", String(of.documents.count)]
  ])

/** The differences between what was computed and what is certified; none if both agree. */
export const certificateDifferences = (
  local: LocalCertificate,
  certificate: LocalCertificate
): ReadonlyArray<CertificateDifference> => {
  const [own, certified] = [comparedOf(local), comparedOf(certificate)]
  return [...new Set([...own.keys(), ...certified.keys()])]
    .map((name) => ({
      name,
      local: own.get(name) ?? null,
      certified: certified.get(name) ?? null
    }))
    .filter((each) => each.local !== each.certified)
}
