/**
 * Descriptions of the tables of an account: each column once, with its type and its value. Inserts,
 * selects and the record sets of sent rows are made from them.
 */
import { Schema } from "effect"
import type { Statement } from "effect/sql"
import type { Steps } from "@data-import/domain/support/Steps"
import type { Database } from "../connection/Database.ts"
import type { Column } from "./Column.ts"

type Sql = Database["Service"]["sql"]

export interface Columns {
  readonly [name: string]: Column
}

/** SQL expressions of columns that are not sent. They refer to `target` and `sent`. */
interface Computed {
  readonly [column: string]: string
}

/** The lists of an insert. They are made once, because every request inserts into many tables. */
export interface Table<C extends Columns> {
  readonly name: string
  /** The column with the id of the account. */
  readonly key: string
  readonly columns: C
  /** The columns that an insert fills. */
  readonly filled: string
  /** The SQL expression of each filled column. */
  readonly values: string
  /** The columns of the record set `sent`, with their types. */
  readonly sent: string
  /** SQL that joins further values to the rows of `sent`, or nothing. */
  readonly joined: string
}

/** The columns with their types, as a record set has them. */
export const typesOf = (columns: Columns): string =>
  Object.entries(columns)
    .map(([column, { type }]) => `${column} ${type}`)
    .join(", ")

export const make = <const C extends Columns>(
  name: string,
  columns: C,
  {
    computed = {},
    joined = "",
    key = "account_id"
  }: { readonly computed?: Computed; readonly joined?: string; readonly key?: string } = {}
): Table<C> => {
  const described = Object.entries<Column>(columns)
  const values = {
    [key]: "target.id",
    ...Object.fromEntries(
      described.flatMap(([column, { stored = `sent.${column}` }]) =>
        stored === null ? [] : [[column, stored]]
      )
    ),
    ...computed
  }
  return {
    name,
    key,
    columns,
    filled: Object.keys(values).join(", "),
    values: Object.values(values).join(", "),
    sent: typesOf(columns),
    joined
  }
}

type StructOf<C extends Columns> = Schema.Struct<{ readonly [Name in keyof C]: C[Name]["schema"] }>

/** A row as it is read. */
type ReadRow<C extends Columns> = StructOf<C>["Type"]

/** A row as it is sent. Properties without a column are ignored. */
export type Row<C extends Columns> = {
  readonly [Name in keyof ReadRow<C>]: object extends Pick<ReadRow<C>, Name>
    ? ReadRow<C>[Name] | undefined
    : ReadRow<C>[Name]
}

/** Decodes an object that `selected` or `withoutNulls` selects. */
export const schemaOf = <C extends Columns>(columns: C) =>
  Schema.Struct(
    Object.fromEntries(Object.entries(columns).map(([name, { schema }]) => [name, schema]))
  ) as unknown as Schema.Codec<ReadRow<C>, unknown>

/** SQL for the columns as one JSON object. */
export const selected = (columns: Columns): string => {
  const members = Object.entries(columns).map(([name, { read }]) => `'${name}', ${read(name)}`)
  return `json_build_object(${members.join(", ")})`
}

/** The same without the columns that are null, as `optional` columns need it. */
export const withoutNulls = (columns: Columns): string => `json_strip_nulls(${selected(columns)})`

/** Rows that are made into text between two pauses. */
const rowsPerYield = 128

/** Rows with the place of their account among the rows of `target`, from 0. */
export interface Placed<Row> {
  /** If there is only one account, no row has to be joined to it by its place. */
  readonly accounts: number
  readonly rows: IteratorObject<readonly [place: number, row: Row]>
}

/** The rows of each value with its place. Each value belongs to one account. */
export const placed = <A, Row>(
  values: ReadonlyArray<A>,
  rowsOf: (value: A, place: number) => Iterable<Row>
): Placed<Row> => ({ accounts: values.length, rows: placing(values, rowsOf) })

function* placing<A, Row>(
  values: ReadonlyArray<A>,
  rowsOf: (value: A, place: number) => Iterable<Row>
): Generator<readonly [place: number, row: Row], void> {
  for (const [place, value] of values.entries()) {
    for (const row of rowsOf(value, place)) yield [place, row]
  }
}

/** A row as it is sent. An undefined property is left out, and so is null. */
const writing = (columns: Columns): ((row: object, more: object) => string) => {
  const described = Object.entries<Column>(columns)
  return (row, more) => {
    const sent: Record<string, unknown> = { ...more }
    for (const [name, { write }] of described) {
      const value: unknown = row[name as keyof typeof row]
      if (value !== undefined) sent[name] = write(value)
    }
    return JSON.stringify(sent)
  }
}

/** The texts as one JSON array. */
function* arrayOf(rows: Iterable<string>): Steps<string> {
  const texts: Array<string> = []
  for (const text of rows) {
    texts.push(text)
    if (texts.length % rowsPerYield === 0) yield
  }
  return `[${texts.join(",")}]`
}

/** The rows as a record set named `sent`, for the `from` of a query. */
const sentRows = (sql: Sql, types: string, text: string): Statement.Fragment =>
  sql`json_to_recordset(${text}::json) as ${sql.literal(`sent(${types})`)}`

/** The rows as one JSON array. */
export const jsonOf = <C extends Columns>(
  columns: C,
  rows: IteratorObject<Row<C>>
): Steps<string> => {
  const write = writing(columns)
  return arrayOf(rows.map((row) => write(row, {})))
}

/** A query that gives the rows. */
export function* records<C extends Columns>(
  sql: Sql,
  columns: C,
  rows: IteratorObject<Row<C>>
): Steps<Statement.Fragment> {
  const text = yield* jsonOf(columns, rows)
  return sql`select * from ${sentRows(sql, typesOf(columns), text)}`
}

/** A query that gives the rows, each with the place of its account. */
export function* placedRecords<C extends Columns>(
  sql: Sql,
  columns: C,
  { rows }: Placed<Row<C>>
): Steps<Statement.Fragment> {
  const write = writing(columns)
  const text = yield* arrayOf(rows.map(([place, row]) => write(row, { place })))
  return sql`select * from ${sentRows(sql, `place integer, ${typesOf(columns)}`, text)}`
}

/**
 * A common table expression that inserts the rows into the accounts of the common table expression
 * `target`, each at its `place`, or nothing where `target` has no such row.
 */
export function* inserting<C extends Columns>(
  sql: Sql,
  table: Table<C>,
  { accounts, rows }: Placed<Row<C>>,
  more: Computed = {}
): Steps<Statement.Fragment> {
  const { columns, filled, joined, name, values } = table
  const write = writing(columns)
  const isOne = accounts === 1
  const text = yield* arrayOf(rows.map(([place, row]) => write(row, isOne ? {} : { place })))
  const sent = isOne
    ? sql`target cross join ${sentRows(sql, table.sent, text)}`
    : sql`target join ${sentRows(sql, `place integer, ${table.sent}`, text)} using (place)`
  return sql`${sql.literal(`new_${name}`)} as (
    insert into ${sql.literal(`${name} (${[filled, ...Object.keys(more)].join(", ")})`)}
    select ${sql.literal([values, ...Object.values(more)].join(", "))}
    from ${sent} ${sql.literal(joined)}
  )`
}
