/** Transactions onto an account that is there, as the contract has them. */
import { knownTo, ownedBy, recorded, requireOngoing } from "./AccountImport.ts"
import { twoDecimals } from "./Decimal.ts"
import { invalid, notFound, Refusal } from "./Refusal.ts"
import { type Transaction, type TransactionsRequest, transactionsIn } from "./Requests.ts"
import { effectOf, factsAt, supplierErrors, transactionsErrors } from "./Rules.ts"
import type { Account, Added, Storage, Write } from "./Storage.ts"

const code = "request_failed_validation"

interface Result {
  readonly status: string
  readonly transaction_data: object
}

interface Parameters {
  readonly checks: boolean
  readonly forces: boolean
}

const flag = (
  parameters: Readonly<Record<string, unknown>>,
  name: string,
  wrong: Array<string>
): boolean => {
  const sent = Object.hasOwn(parameters, name) ? parameters[name] : "true"
  if (typeof sent === "string" && /^(true|false)$/i.test(sent)) return sent.toLowerCase() === "true"
  wrong.push(name)
  return true
}

const dayAfter = (day: string): string => {
  const next = new Date(`${day}T00:00:00Z`)
  next.setUTCDate(next.getUTCDate() + 1)
  return next.toISOString().slice(0, 10)
}

const refused = (refusal: string, transaction_data: Transaction): Refusal =>
  new Refusal(400, refusal, {
    status: "TRANSACTION_IMPORT_ERROR",
    error_detail: `The transaction is refused: ${refusal}.`,
    transaction_data
  })

const moved = (transaction: Transaction, to: string): Added => {
  const from = transaction.transaction_date
  if (from === to) return transaction
  const sentence = `Moved into the open statement period; originally dated ${from}.`
  const before = transaction.display_note ?? ""
  return {
    ...transaction,
    transaction_date: to,
    display_note: before === "" ? sentence : `${before} ${sentence}`,
    moved_from_date: from
  }
}

const withoutOrigin = ({ moved_from_date: _, ...transaction }: Added): Transaction => transaction

const noteOn = (added: ReadonlyArray<Added>): string | null => {
  const lines = added.flatMap(({ moved_from_date: from, transaction_date, transaction_id }) =>
    from === undefined ? [] : [`${transaction_id}: ${from} to ${transaction_date}`]
  )
  if (lines.length === 0) return null
  return `Imported transactions moved into the open statement period:\n${lines.join("\n")}`
}

const decide = (
  { transactions }: TransactionsRequest,
  { checks, forces }: Parameters,
  today: string,
  { last_closing_date: closing }: Account,
  present: ReadonlyMap<string, Transaction>
) => {
  const from = closing === null ? "" : dayAfter(closing)
  const seen = new Set<string>()
  const added: Array<Added> = []
  const answer: Array<Result> = []
  let raise = 0n
  for (const transaction of transactions) {
    const { transaction_date: date, transaction_id: id } = transaction
    if (seen.has(id)) throw refused("duplicate_transaction_ids", transaction)
    seen.add(id)
    const there = present.get(id)
    if (checks && there !== undefined) {
      const transaction_data = { ...there, status: "TRANSACTION_IMPORT_SUCCESS" }
      answer.push({ status: "TRANSACTION_ALREADY_EXISTS", transaction_data })
      continue
    }
    const isInside = date <= today && date >= from
    if (!isInside && !forces) throw refused("transaction_outside_open_period", transaction)
    const nearest = date < from && from < today ? from : today
    const one = moved(transaction, isInside ? date : nearest)
    added.push(one)
    raise += effectOf(one)
    answer.push({ status: "TRANSACTION_ADDED_TO_ACCOUNT", transaction_data: withoutOrigin(one) })
  }
  return { added, answer, note: noteOn(added), raise: twoDecimals(raise) }
}

export class PostImport {
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
  }

  async transactions(
    write: Write,
    body: unknown,
    query: Readonly<Record<string, unknown>>
  ): Promise<ReadonlyArray<Result>> {
    return recorded(this.#storage, "create_transactions", body, write, async () => {
      const wrong: Array<string> = []
      const checks = flag(query, "check_previously_added", wrong)
      const forces = flag(query, "force_add_to_current_statement", wrong)
      const { request, today } = await this.#validated(write, body, wrong)
      const ids = request.transactions.map(({ transaction_id }) => transaction_id)
      const results = await this.#storage.addTransactions(request, ids, write, (...found) =>
        decide(request, { checks, forces }, today, ...found)
      )
      if (results === null) throw notFound()
      return results
    })
  }

  async #validated(write: Write, body: unknown, wrong: ReadonlyArray<string>) {
    const known = await knownTo(this.#storage, body)
    const exists = ownedBy(write.caller, known.supplier)
    const request = transactionsIn(body)
    const facts = factsAt(write.at, exists ? known.supplier : null, known.codeLists)
    const empty = { detail: "Must not be empty.", code: "empty", attr: "transactions" }
    const errors = [
      ...wrong.map((attr) => ({ detail: "Must be true or false.", code: "invalid", attr })),
      ...supplierErrors(exists),
      ...(request.transactions.length === 0 ? [empty] : []),
      ...transactionsErrors(request.transactions, facts)
    ]
    if (errors.length > 0) throw invalid(code, errors)
    requireOngoing(known.supplier)
    return { request, today: facts.today }
  }
}
