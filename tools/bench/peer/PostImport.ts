/** Transactions onto an account that is there. */
import { knownTo, ownedBy, requireOngoing } from "./AccountImport.ts"
import { twoDecimals } from "./Decimal.ts"
import { invalid, notFound, Refusal } from "./Refusal.ts"
import { type Transaction, type TransactionsRequest, transactionsIn } from "./Requests.ts"
import { effectOf, factsAt, supplierErrors, transactionsErrors } from "./Rules.ts"
import * as statements from "./Statements.ts"
import { auditOf, type Context, pairOf, run, transaction } from "./Storage.ts"

const refused = (refusal: string, transaction_data: Transaction): Refusal =>
  new Refusal(400, refusal, {
    status: "TRANSACTION_IMPORT_ERROR",
    error_detail: `The transaction is refused: ${refusal}.`,
    transaction_data
  })

const decide = (
  { transactions }: TransactionsRequest,
  today: string,
  closing: string | null,
  present: ReadonlySet<string>
) => {
  const seen = new Set<string>()
  const added: Array<Transaction> = []
  const results = transactions.map((one) => {
    const { transaction_date: date, transaction_id: id } = one
    if (seen.has(id)) throw refused("duplicate_transaction_ids", one)
    seen.add(id)
    if (present.has(id)) {
      const transaction_data = { ...one, status: "TRANSACTION_IMPORT_SUCCESS" }
      return { status: "TRANSACTION_ALREADY_EXISTS", transaction_data }
    }
    if (date > today || (closing !== null && date <= closing)) {
      throw refused("transaction_outside_open_period", one)
    }
    added.push(one)
    return { status: "TRANSACTION_ADDED_TO_ACCOUNT", transaction_data: one }
  })
  const raise = added.reduce((sum, one) => sum + effectOf(one), 0n)
  return { added, results, raise: twoDecimals(raise) }
}

const validated = async (context: Context, body: unknown) => {
  const known = await knownTo(context, body)
  const exists = ownedBy(context.caller, known.supplier)
  const request = transactionsIn(body)
  const facts = factsAt(context.at, exists ? known.supplier : null, known.codeLists)
  const empty = { detail: "Must not be empty.", code: "empty", attr: "transactions" }
  const errors = [
    ...supplierErrors(exists),
    ...(request.transactions.length === 0 ? [empty] : []),
    ...transactionsErrors(request.transactions, facts)
  ]
  if (errors.length > 0) throw invalid("request_failed_validation", errors)
  requireOngoing(known.supplier)
  return { request, today: facts.today }
}

/** Decides under the account's lock what to add, and adds it. */
export const addTransactions = async (context: Context, body: unknown) => {
  const { request, today } = await validated(context, body)
  const ids = request.transactions.map(({ transaction_id }) => transaction_id)
  return transaction(context.pool, async (on) => {
    const [account] = await run(on, statements.lockAccount, pairOf(request))
    if (account === undefined) throw notFound()
    const rows = await run(on, statements.present, [account.id, ids])
    const present = new Set(rows.map(({ transaction_id }) => transaction_id))
    const { added, raise, results } = decide(request, today, account.last_closing_date, present)
    if (added.length === 0) {
      await run(on, statements.audit, [...auditOf(context), ...pairOf(request)])
    } else {
      const values = [account.id, JSON.stringify(added), raise, ...pairOf(request)]
      await run(on, statements.add, [...values, ...auditOf(context)])
    }
    return results
  })
}
