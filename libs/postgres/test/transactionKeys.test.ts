/**
 * Transactions have no foreign key. Neither sequential nor concurrent statements leave one without
 * its account, or an item without its transaction.
 */
import { PgClient } from "@effect/sql-pg"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Reactivity } from "effect/reactivity"
import * as TestDatabase from "../testing/TestDatabase.ts"

type Sql = PgClient.PgClient

/** An account with nothing else on it. */
const bareAccount = (sql: Sql) => sql`
  with team as (insert into operations_teams (name) values ('Team') returning name),
  organisation as (
    insert into organisations (name, created_at) values ('owner', now()) returning name
  ),
  supplier as (
    insert into suppliers
      (code, organisation, status, document_root, document_check, customer_emails)
    select 'CODE', name, 'Ongoing', 'CODE', false, false from organisation returning code
  ),
  import as (
    insert into import_processes (supplier, external_account_number, payload, staged_at)
    select code, 'bare', '{}', now() from supplier returning id
  )
  insert into accounts (id, import_id, number, created_at, operations_team, balance, payload)
  select id, id, 'A-0000BA0E', now(), name, 0, '{}' from import, team`

const addTransaction = (sql: Sql) => sql`
  insert into transactions
    (account_id, sequence, origin, transaction_id, transaction_date, amount, type, recorded_at)
  select id, 0, 'post_import', 'a', '2025-01-01', 1, 'CREDIT', now()
  from (select max(id) as id from import_processes) as bare`

const addItem = (sql: Sql) => sql`
  insert into transaction_tax_items (account_id, transaction_sequence, position, amount, tax_type,
    value_taxed, rate, unit_type)
  select max(id), 0, 0, 1, 'VAT', 1, 1, 'PROPORTION' from import_processes`

/** These add rows to an account, or a transaction, that does not exist. */
const addForeignTransaction = (sql: Sql) => sql`
  insert into transactions
    (account_id, sequence, origin, transaction_id, transaction_date, amount, type, recorded_at)
  select id, 1, 'post_import', 'b', '2025-01-01', 1, 'CREDIT', now()
  from (select id from accounts union all select -1) as accounts`
const addForeignTaxItem = (sql: Sql) => sql`
  insert into transaction_tax_items
  select account_id, sequence + transaction_sequence + 1, position, items.amount, tax_type,
    value_taxed, rate, unit_type
  from transaction_tax_items as items join transactions using (account_id)`
const addForeignLineItem = (sql: Sql) => sql`
  insert into transaction_line_items (account_id, transaction_sequence, position, start_date,
    end_date, number_of_units, net_amount)
  select account_id, place, 0, '2025-01-01', '2025-01-01', 1, 1
  from transactions, generate_series(0, 1) as place`

const deleteAccount = (sql: Sql) => sql`delete from accounts`
const deleteTransactions = (sql: Sql) => sql`delete from transactions`

const connections = Effect.gen(function* () {
  const url = yield* TestDatabase.freshUrl
  const connect = PgClient.make({ url, maxConnections: 1 })
  const [one, other] = [yield* connect, yield* connect]
  yield* bareAccount(one)
  return { one, other }
})

const waits = (sql: Sql) =>
  Effect.repeat(sql`select from pg_locks where not granted`, {
    until: ({ length }) => length > 0
  })

type Run = (sql: Sql) => Effect.Effect<unknown, unknown>

const brokenBy = (failure: unknown): unknown =>
  (failure as { reason: { cause: { constraint: unknown } } }).reason.cause.constraint

/** What breaks if `second` begins while `first` is not committed. */
const races: ReadonlyArray<
  readonly [name: string, before: ReadonlyArray<Run>, first: Run, second: Run, breaks: string]
> = [
  [
    "an account deleted, added to",
    [],
    deleteAccount,
    addTransaction,
    "transactions_account_exists"
  ],
  [
    "an account added to, deleted",
    [],
    addTransaction,
    deleteAccount,
    "transactions_account_exists"
  ],
  [
    "a transaction deleted, added to",
    [addTransaction],
    deleteTransactions,
    addItem,
    "transaction_tax_items_transaction_exists"
  ],
  [
    "a transaction added to, deleted",
    [addTransaction],
    addItem,
    deleteTransactions,
    "transaction_tax_items_transaction_exists"
  ]
]

describe("transactions and their items", () => {
  it.live.each(races)("keep their keys in races: %s", ([, before, first, second, constraint]) =>
    Effect.gen(function* () {
      const { one, other } = yield* connections
      yield* Effect.forEach(before, (run) => run(one))
      const fiber = yield* one.withTransaction(
        Effect.gen(function* () {
          yield* first(one)
          const begun = yield* Effect.forkScoped(Effect.flip(second(other)))
          yield* waits(one)
          return begun
        })
      )
      expect(brokenBy(yield* Fiber.join(fiber))).toBe(constraint)
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )

  const refused: ReadonlyArray<readonly [constraint: string, statement: Run]> = [
    ["transactions_account_exists", addForeignTransaction],
    ["transaction_tax_items_transaction_exists", addForeignTaxItem],
    ["transaction_line_items_transaction_exists", addForeignLineItem],
    ["transaction_tax_items_transaction_exists", deleteTransactions]
  ]

  it.live.each(refused)("keep %s", ([constraint, statement]) =>
    Effect.gen(function* () {
      const { one } = yield* connections
      yield* addTransaction(one)
      yield* addItem(one)
      expect(brokenBy(yield* Effect.flip(statement(one)))).toBe(constraint)
      expect(yield* one`select from transactions`).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )

  it.live.each([
    "update accounts set id = -1",
    "update transactions set account_id = -1",
    "update transactions set sequence = 100",
    "update transaction_tax_items set account_id = -1",
    "update transaction_tax_items set transaction_sequence = 99",
    "truncate transactions",
    "truncate accounts cascade"
  ])("keep their keys for ever: %s", (statement) =>
    Effect.gen(function* () {
      const { one } = yield* connections
      yield* addTransaction(one)
      yield* addItem(one)
      const failure = yield* Effect.flip(one.unsafe(statement))
      expect(failure.reason.cause).toMatchObject({ code: "23001" })
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )

  it.live("go in their order", () =>
    Effect.gen(function* () {
      const { one } = yield* connections
      yield* addTransaction(one)
      yield* addItem(one)
      expect(brokenBy(yield* Effect.flip(deleteTransactions(one)))).toBe(races[2]?.[4])
      yield* one`delete from transaction_tax_items`
      expect(brokenBy(yield* Effect.flip(deleteAccount(one)))).toBe(races[0]?.[4])
      yield* deleteTransactions(one)
      yield* deleteAccount(one)
      expect(yield* one`select from accounts`).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )
})
