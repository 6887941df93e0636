/** Adds transactions to an existing account. */
import * as changes from "./AccountStatements.ts"
import { type Context, trailOf } from "./Context.ts"
import { invalid, notFound, Refusal } from "./Refusal.ts"
import { type Transaction, transactionsIn } from "./Requests.ts"
import { factsAt, supplierErrors, transactionsErrors } from "./Rules.ts"
import { ownSupplier, requireOngoing } from "./Setup.ts"
import { retried, run } from "./Storage.ts"

const refusedBy = (refusal: string, transaction_data: Transaction): Refusal =>
  new Refusal(400, refusal, {
    status: "TRANSACTION_IMPORT_ERROR",
    error_detail: `The transaction is refused: ${refusal}.`,
    transaction_data
  })

/** The first transaction that cannot be added, in the order of the request. */
const refusalIn = (
  transactions: ReadonlyArray<Transaction>,
  today: string,
  closed_on: string | null,
  there: ReadonlySet<string>
): Refusal => {
  const seen = new Set<string>()
  for (const one of transactions) {
    const { transaction_date: date, transaction_id: id } = one
    if (seen.has(id)) return refusedBy("duplicate_transaction_ids", one)
    seen.add(id)
    if (there.has(id)) continue
    if (date > today || (closed_on !== null && date <= closed_on)) {
      return refusedBy("transaction_outside_open_period", one)
    }
  }
  return new Refusal(500, "error")
}

export const addTransactions = async (context: Context, body: unknown) => {
  const request = transactionsIn(body)
  const { transactions } = request
  const supplier = await ownSupplier(context, request.import_supplier)
  const facts = factsAt(context.at, supplier, await context.setup.codeLists(""))
  const errors = [...supplierErrors(supplier !== null), ...transactionsErrors(transactions, facts)]
  if (errors.length > 0) throw invalid("request_failed_validation", errors)
  requireOngoing(supplier)
  const ids = [...new Set(transactions.map(({ transaction_id }) => transaction_id))]
  const text = JSON.stringify(transactions)
  const mayAdd = ids.length === transactions.length
  const values = [...trailOf(context, request), text, facts.today, mayAdd]
  const [result] = await retried(() => run(context.pool, changes.addTransactions, values))
  if (result === undefined) throw notFound()
  const { added, closed_on, refused } = result
  if (refused) {
    const { external_account_number: number, import_supplier } = request
    const key = [import_supplier, number, ids]
    const there = await run(context.pool, changes.presentTransactions, key)
    const present = new Set(there.map(({ transaction_id }) => transaction_id))
    throw refusalIn(transactions, facts.today, closed_on, present)
  }
  const fresh = new Set(added)
  return transactions.map((one) =>
    fresh.has(one.transaction_id)
      ? { status: "TRANSACTION_ADDED_TO_ACCOUNT", transaction_data: one }
      : {
          status: "TRANSACTION_ALREADY_EXISTS",
          transaction_data: { ...one, status: "TRANSACTION_IMPORT_SUCCESS" }
        }
  )
}
