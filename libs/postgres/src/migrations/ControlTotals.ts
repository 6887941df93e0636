/**
 * Control totals in PostgreSQL: one row for each supplier and cohort. They are compared with the
 * kept counts, so reading takes as long for a million imports as for a few. An import with a lease
 * is staged before and after it, so leases need not be looked up.
 */
import { DateTime, Effect, Layer, Schema } from "effect"
import {
  changeOutcome,
  type ComparedTotals,
  ControlTotals,
  type EnteredTotals,
  type ExpectedMoney,
  type ExpectedTotals,
  type MovedTotals,
  totalsBody
} from "@data-import/domain/migrations/ControlTotals"
import { MigrationNotOngoing } from "@data-import/domain/requests/Failure"
import { sum } from "@data-import/domain/schema/Decimal"
import { SupplierCode, SupplierStatus } from "@data-import/domain/suppliers/Supplier"
import { auditEntry } from "../audit/ChangeEntries.ts"
import { recordUnchanged } from "../audit/Refusals.ts"
import { Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]
type Port = ControlTotals["Service"]

/** The name of the cohort in the table. */
const all = ""

const enteredRows = rowsOf(
  Schema.Struct({
    cohort: Schema.String,
    accounts: Schema.Int,
    balance: Schema.NullOr(Schema.BigDecimalFromString),
    ledgers: Schema.NullOr(
      Schema.Array(
        Schema.Struct({ ledger_code: Schema.String, balance: Schema.BigDecimalFromString })
      )
    ),
    by: Schema.String,
    at: Schema.DateTimeUtcFromDate
  })
)

type EnteredRow = Effect.Success<ReturnType<typeof enteredRows>>[number]

/** The rows of a supplier, or that of one cohort of it. */
const entered = (sql: Sql, supplier: SupplierCode, cohort?: string) =>
  enteredRows(sql`
    select cohort, accounts::float8 as accounts, balance::text as balance, ledgers,
      set_by as by, set_at as at
    from control_totals
    where supplier = ${supplier} ${cohort === undefined ? sql`` : sql`and cohort = ${cohort}`}
    order by cohort`)

const enteredOf = ({ accounts, at, balance, by, ledgers }: EnteredRow): EnteredTotals => ({
  totals: {
    accounts,
    ...(balance !== null && { balance }),
    ...(ledgers !== null && { ledger_balances: ledgers })
  },
  by,
  at
})

/** The control totals of a certificate, in its snapshot. */
export const enteredTotals = (sql: Sql, supplier: SupplierCode, cohort: string | null) =>
  Effect.map(entered(sql, supplier, cohort ?? all), ([row]) =>
    row === undefined ? null : enteredOf(row).totals
  )

const tallyRows = rowsOf(
  Schema.Struct({
    cohort: Schema.String,
    kind: Schema.Literals(["state", "balance", "ledger"]),
    name: Schema.String,
    count: Schema.Int,
    amount: Schema.BigDecimalFromString
  })
)

type Tally = Effect.Success<ReturnType<typeof tallyRows>>[number]

/** What is counted of these cohorts. */
const tallies = (sql: Sql, supplier: SupplierCode, cohorts: ReadonlyArray<string>) =>
  tallyRows(sql`
    select cohort, kind, name, sum(count)::float8 as count, sum(amount)::text as amount
    from (
      select cohort, kind, name, count, amount from import_totals
      where supplier = ${supplier} and cohort = any(${cohorts}::text[])
        and kind in ('state', 'balance', 'ledger')
      union all
      select wanted.cohort, kind, name, count, amount
      from import_differences as present, unnest(${cohorts}::text[]) as wanted (cohort)
      where supplier = ${supplier} and kind in ('state', 'balance', 'ledger')
        and (wanted.cohort = ${all} or wanted.cohort = present.cohort)
    ) as parts
    group by cohort, kind, name having sum(count) <> 0 or sum(amount) <> 0
    order by kind, name collate "C"`)

const movedIn = (tallies: ReadonlyArray<Tally>): MovedTotals => {
  const ofKind = (kind: Tally["kind"]) => tallies.filter((each) => each.kind === kind)
  const countOf = (of: ReadonlyArray<Tally>) => of.reduce((total, { count }) => total + count, 0)
  const states = ofKind("state")
  const failed = countOf(states.filter(({ name }) => name === "FAILED"))
  const balances = ofKind("balance").filter(({ name }) => name !== "added")
  return {
    sent: countOf(states),
    staged: countOf(states.filter(({ name }) => name === "PENDING")) + failed,
    failed,
    arrived: {
      accounts: countOf(balances),
      balance: sum(balances.map(({ amount }) => amount)),
      ledgers: ofKind("ledger").map(({ amount, count, name }) => ({
        code: name,
        ledgers: count,
        balance: amount
      }))
    }
  }
}

const compared = (
  cohort: string,
  row: EnteredRow | undefined,
  counted: ReadonlyArray<Tally>
): ComparedTotals => ({
  cohort: cohort === all ? null : cohort,
  expected: row === undefined ? null : enteredOf(row),
  moved: movedIn(counted.filter((each) => each.cohort === cohort))
})

const read = Effect.fnUntraced(function* (
  sql: Sql,
  { cohort: named, supplier }: Parameters<Port["read"]>[0]
) {
  const cohort = named ?? all
  const [row] = yield* entered(sql, supplier, cohort)
  return compared(cohort, row, yield* tallies(sql, supplier, [cohort]))
})

const ofCohorts = Effect.fnUntraced(function* (sql: Sql, supplier: SupplierCode) {
  const rows = (yield* entered(sql, supplier)).filter(({ cohort }) => cohort !== all)
  const cohorts = rows.map(({ cohort }) => cohort)
  const counted = cohorts.length === 0 ? [] : yield* tallies(sql, supplier, cohorts)
  return rows.map((row) => compared(row.cohort, row, counted))
})

const expectedRows = rowsOf(
  Schema.Struct({
    supplier: SupplierCode,
    cohort: Schema.NullOr(Schema.String),
    accounts: Schema.Int,
    balance: Schema.NullOr(Schema.BigDecimalFromString),
    sent: Schema.Int,
    refused: Schema.Int
  })
)

/**
 * Each table of counts is read once, however many totals were entered, because the list of all
 * migrations waits for this.
 */
const expected = (
  sql: Sql,
  suppliers: ReadonlyArray<SupplierCode>,
  balance = sql`null::numeric`
) => {
  const ofAllAndOwn = sql`cross join lateral (values (${all}), (present.cohort)) as part (cohort)`
  return expectedRows(sql`
    with wanted as materialized (
      select supplier, cohort, accounts, ${balance} as balance from control_totals
      where supplier = any(${suppliers}::text[])
    ),
    counted as (
      select supplier, cohort, count as sent, 0 as refused
      from wanted join import_totals using (supplier, cohort) where kind = 'state'
      union all
      select supplier, part.cohort, count, 0
      from import_differences as present ${ofAllAndOwn}
      where kind = 'state' and supplier in (select supplier from wanted)
      union all
      select supplier, part.cohort, 0, count
      from refused_counts as present ${ofAllAndOwn}
      where supplier in (select supplier from wanted)
    )
    select supplier, nullif(cohort, ${all}) as cohort, accounts::float8 as accounts,
      balance::text as balance,
      coalesce(sum(sent), 0)::float8 as sent, coalesce(sum(refused), 0)::float8 as refused
    from wanted left join counted using (supplier, cohort)
    group by supplier, cohort, accounts, balance`).pipe(
    Effect.map((rows): ReadonlyMap<SupplierCode, ReadonlyArray<ExpectedMoney>> =>
      Map.groupBy(rows, ({ supplier }) => supplier)
    )
  )
}

const store = (
  sql: Sql,
  { at, caller, supplier }: Pick<Parameters<Port["set"]>[0], "at" | "caller" | "supplier">,
  cohort: string,
  totals: ExpectedTotals | null
) => {
  if (totals === null) {
    return sql`delete from control_totals where supplier = ${supplier} and cohort = ${cohort}`
  }
  const { accounts, balance, ledger_balances: ledgers } = totalsBody(totals)
  return sql`
    insert into control_totals (supplier, cohort, accounts, balance, ledgers, set_by, set_at)
    values (${supplier}, ${cohort}, ${accounts}, ${balance}::numeric,
      ${ledgers && JSON.stringify(ledgers)}::json, ${caller.apiKey}, ${DateTime.toDateUtc(at)})
    on conflict on constraint control_totals_pkey do update
    set accounts = excluded.accounts, balance = excluded.balance, ledgers = excluded.ledgers,
      set_by = excluded.set_by, set_at = excluded.set_at`
}

const statusRows = rowsOf(Schema.Struct({ status: SupplierStatus }))

/** The lock serialises changes, so that each entry of the audit log names what it replaces. */
const set = Effect.fnUntraced(function* (sql: Sql, command: Parameters<Port["set"]>[0]) {
  const { at, caller, cohort: named, supplier, totals } = command
  const cohort = named ?? all
  const lock = `control totals ${supplier}`
  yield* sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`
  const [found] = yield* statusRows(sql`select status from suppliers where code = ${supplier}`)
  if (found?.status === "Complete") return yield* new MigrationNotOngoing(found)
  const before = yield* enteredTotals(sql, supplier, named)
  const outcome = changeOutcome(named, before, totals)
  const key = { import_supplier: supplier, external_account_number: null }
  const write = { at, caller, action: "set_control_totals", key } as const
  if (outcome === null) {
    yield* recordUnchanged(sql, write)
    return
  }
  yield* store(sql, command, cohort, totals)
  yield* sql`${auditEntry(sql, { ...write, outcome }, sql``)}`
})

export const layer: Layer.Layer<ControlTotals, never, Database> = Layer.effect(
  ControlTotals,
  Effect.map(Database, ({ run, sql }) =>
    ControlTotals.of({
      read: (query) => run(read(sql, query)),
      ofCohorts: (supplier) => run(ofCohorts(sql, supplier)),
      expected: (suppliers) => run(expected(sql, suppliers)),
      expectedMoney: (suppliers) => run(expected(sql, suppliers, sql`balance`)),
      set: (command) => run(sql.withTransaction(set(sql, command)))
    })
  )
)
