/** What is told of many migrations at once, in PostgreSQL: few statements for all of them. */
import { DateTime, Effect, Layer, Schema } from "effect"
import { type MigrationMoney, Programme } from "@data-import/domain/migrations/Programme"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { Database, rowsOf } from "../connection/Database.ts"
import { pastOf } from "./PastCounts.ts"

type Sql = Database["Service"]["sql"]
type Port = Programme["Service"]
type Query<Name extends keyof Port> = Parameters<Port[Name]>[0]

const { toDateUtc } = DateTime
const Amount = Schema.BigDecimalFromString

const moneyRows = rowsOf(
  Schema.Struct({
    supplier: SupplierCode,
    imported: Amount,
    added: Amount,
    certifiedAccounts: Schema.NullOr(Schema.Int),
    certifiedBalance: Schema.NullOr(Amount)
  })
)

const money = (sql: Sql, { suppliers }: Query<"money">) =>
  moneyRows(sql`
    with parts as (
      select supplier, name, amount from import_totals
      where supplier = any(${suppliers}::text[]) and cohort = '' and kind = 'balance'
      union all
      select supplier, name, amount from import_differences
      where supplier = any(${suppliers}::text[]) and kind = 'balance'
    )
    select wanted.supplier,
      coalesce((select sum(amount) from parts
        where parts.supplier = wanted.supplier and name <> 'added'), 0)::text as imported,
      coalesce((select sum(amount) from parts
        where parts.supplier = wanted.supplier and name = 'added'), 0)::text as added,
      certified.accounts as "certifiedAccounts", certified.balance as "certifiedBalance"
    from unnest(${suppliers}::text[]) with ordinality as wanted (supplier, place)
    left join lateral (
      select (content ->> 'tree_size')::int as accounts,
        content ->> 'balance_as_imported' as balance
      from certificates
      where certificates.supplier = wanted.supplier and status = 'ISSUED' and cohort is null
      order by number desc limit 1
    ) as certified on true
    order by place`).pipe(
    Effect.map((rows) =>
      rows.map(
        ({ certifiedAccounts: accounts, certifiedBalance: balance, ...row }): MigrationMoney => ({
          ...row,
          certified: accounts === null || balance === null ? null : { accounts, balance }
        })
      )
    )
  )

const codeRows = rowsOf(
  Schema.Struct({ supplier: SupplierCode, code: Schema.String, imports: Schema.Int })
)

const codes = (sql: Sql, { suppliers }: Query<"codes">) =>
  codeRows(sql`
    select supplier, name as code, sum(count)::float8 as imports
    from (
      select supplier, name, count from import_totals
      where supplier = any(${suppliers}::text[]) and cohort = '' and kind = 'code'
      union all
      select supplier, name, count from import_differences
      where supplier = any(${suppliers}::text[]) and kind = 'code'
    ) as parts
    group by supplier, name having sum(count) > 0`)

const signOffRows = rowsOf(
  Schema.Struct({ supplier: SupplierCode, by: Schema.String, at: Schema.DateTimeUtcFromDate })
)

const signOffs = (sql: Sql, { since, suppliers }: Query<"signOffs">) =>
  signOffRows(sql`
    select supplier, signed_by as by, signed_at as at from migration_sign_offs
    where supplier = any(${suppliers}::text[]) and signed_at >= ${toDateUtc(since)}
    order by signed_at desc`)

const conditionRows = rowsOf(Schema.Struct({ supplier: SupplierCode, condition: Schema.String }))

const conditionsAt = (sql: Sql, { at, suppliers }: Query<"conditionsAt">) =>
  conditionRows(sql`
    select wanted.supplier, condition
    from unnest(${suppliers}::text[]) as wanted (supplier) cross join lateral (
      select condition from migration_conditions as present
      where present.supplier = wanted.supplier and began_at <= ${toDateUtc(at)}
      order by began_at desc limit 1
    ) as last`).pipe(
    Effect.map((rows) => new Map(rows.map(({ condition, supplier }) => [supplier, condition])))
  )

/** The last one of each supplier stays, however old it is. */
const keepConditions = (sql: Sql, { at, conditions: found }: Query<"keepConditions">) => {
  const before = toDateUtc(DateTime.subtract(at, { days: 90 }))
  return sql`
    with forgotten as (
      delete from migration_conditions as old
      where began_at < ${before} and exists (
        select from migration_conditions as later
        where later.supplier = old.supplier and later.began_at > old.began_at
          and later.began_at < ${before})
    )
    insert into migration_conditions (supplier, condition, began_at)
    select supplier, condition, ${toDateUtc(at)}
    from unnest(${[...found.keys()]}::text[], ${[...found.values()]}::text[])
      as wanted (supplier, condition)
    where condition is distinct from (
      select condition from migration_conditions as present
      where present.supplier = wanted.supplier order by began_at desc limit 1)
    on conflict on constraint migration_conditions_pkey do nothing`
}

export const layer: Layer.Layer<Programme, never, Database> = Layer.effect(
  Programme,
  Effect.map(Database, (database) => {
    const { run, sql } = database
    return Programme.of({
      money: (query) => run(money(sql, query)),
      history: (query) => run(pastOf(database, { ...query, cohort: null, hasCodes: false })),
      codes: (query) => run(codes(sql, query)),
      signOffs: (query) => run(signOffs(sql, query)),
      conditionsAt: (query) => run(conditionsAt(sql, query)),
      keepConditions: (command) => run(Effect.asVoid(keepConditions(sql, command)))
    })
  })
)
