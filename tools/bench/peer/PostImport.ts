/** Adds transactions, notes and historical statements to an existing account. */
import * as changes from "./AccountStatements.ts"
import { type Context, trailOf } from "./Context.ts"
import { cents, twoDecimals } from "./Decimal.ts"
import { missing } from "./Documents.ts"
import { type FieldError, invalid, notFound, Refusal } from "./Refusal.ts"
import {
  type HistoricalStatement,
  type Key,
  type Note,
  notesIn,
  statementsIn,
  type Transaction,
  transactionsIn
} from "./Requests.ts"
import {
  factsAt,
  type Facts,
  notesErrors,
  statementsErrors,
  supplierErrors,
  transactionsErrors
} from "./Rules.ts"
import { ownSupplier, requireOngoing } from "./Setup.ts"
import type { Statement } from "./Statements.ts"
import { retried, run } from "./Storage.ts"

const code = "request_failed_validation"

/** Throws the refusal of a request that breaks a rule, or whose supplier does not import. */
const validated = async (
  context: Context,
  request: Key & Parameters<typeof missing>[2],
  check: (facts: Facts) => ReadonlyArray<FieldError>
): Promise<Facts> => {
  const supplier = await ownSupplier(context, request.import_supplier)
  const facts = factsAt(context.at, supplier, await context.setup.codeLists(""))
  const errors = [
    ...supplierErrors(supplier !== null),
    ...check(facts),
    ...(await missing(context.documents, supplier, request))
  ]
  if (errors.length > 0) throw invalid(code, errors)
  requireOngoing(supplier)
  return facts
}

const changed = <Row extends object>(
  context: Context,
  statement: Statement<Row>,
  key: Key,
  ...values: ReadonlyArray<unknown>
): Promise<Row> =>
  retried(async () => {
    const [row] = await run(context.pool, statement, [...trailOf(context, key), ...values])
    if (row === undefined) throw notFound()
    return row
  })

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
  const facts = await validated(context, request, (it) => transactionsErrors(transactions, it))
  const ids = [...new Set(transactions.map(({ transaction_id }) => transaction_id))]
  const text = JSON.stringify(transactions)
  const mayAdd = ids.length === transactions.length
  const statement = changes.addTransactions
  const { added, closed_on, refused } = await changed(
    context,
    statement,
    request,
    text,
    facts.today,
    mayAdd
  )
  if (refused) {
    const { external_account_number: number, import_supplier: supplier } = request
    const there = await run(context.pool, changes.presentTransactions, [supplier, number, ids])
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

const inSeconds = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`

/** The keys of a note within a request, without and with its time. */
const keysOf = ({ body, created_at, document_paths = [] }: Note) => {
  const content = JSON.stringify(body ?? document_paths.map((it) => it.document_path))
  const timed = created_at === undefined ? null : content + inSeconds(new Date(created_at))
  return { content, timed }
}

export const addNotes = async (context: Context, body: unknown) => {
  const request = notesIn(body)
  await validated(context, request, ({ now }) => notesErrors(request.notes, now))
  const first = new Map<string, number>()
  const places = request.notes.map((note, index) => {
    const { content, timed } = keysOf(note)
    const place = first.get(timed ?? content) ?? index
    if (!first.has(content)) first.set(content, index)
    if (timed !== null && !first.has(timed)) first.set(timed, index)
    return place
  })
  const own = request.notes.filter((_, index) => places[index] === index)
  const timeOf = ({ created_at }: Note) => created_at ?? context.at.toISOString()
  const sent = own.map((note) => ({
    ...note,
    created_at: timeOf(note),
    is_untimed: note.created_at === undefined
  }))
  const { times } = await changed(context, changes.addNotes, request, JSON.stringify(sent))
  const there = new Map(own.map((note, index) => [request.notes.indexOf(note), times[index]]))
  return request.notes.map((note, index) => {
    const place = places[index] ?? index
    const at = there.get(place) ?? null
    const isNew = place === index && at === null
    const created = at ?? new Date(timeOf(request.notes[place] ?? note))
    return {
      created_at: inSeconds(created),
      body: note.body ?? "",
      status: isNew ? "NOTE_CREATION_SUCCESS" : "NOTE_ALREADY_EXISTS"
    }
  })
}

const differs = (index: number): FieldError => ({
  detail: "The account has a statement of this id with other content.",
  code: "historical_statement_already_exists",
  attr: `statements.${index}`
})

/** A statement as it is stored, so that equal amounts compare equal however they were written. */
const stored = (statement: HistoricalStatement) =>
  statement.gross_amount === undefined
    ? statement
    : { ...statement, gross_amount: twoDecimals(cents(statement.gross_amount)) }

export const addStatements = async (context: Context, body: unknown) => {
  const request = statementsIn(body)
  await validated(context, request, () => statementsErrors(request.statements))
  const text = JSON.stringify(request.statements.map(stored))
  const { differing } = await changed(context, changes.addStatements, request, text)
  if (differing.length > 0) throw invalid(code, differing.map(differs))
  return request
}
