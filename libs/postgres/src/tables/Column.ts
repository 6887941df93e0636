/**
 * The kinds of column: the SQL type, how to write a value into the JSON of an insert, and how to
 * read it back. Decimals are read as text, so that no digit is lost.
 */
import { BigDecimal, DateTime, Schema } from "effect"

export interface Column<S extends Schema.Constraint = Schema.Constraint> {
  /** The SQL type in a record set. */
  readonly type: string
  /** Decodes what `read` selects. */
  readonly schema: S
  /** The JSON of a value of the schema's type. An absent value is never written. */
  readonly write: (value: unknown) => unknown
  /** The SQL expression that selects the column. */
  readonly read: (name: string) => string
  /**
   * The SQL expression that an insert stores; by default the sent value. Null if the column is not
   * stored.
   */
  readonly stored?: string | null
}

/** One column for each field of a type: a field without a column does not compile. */
export type ColumnsFor<Fields> = { readonly [Name in keyof Fields]-?: Column }

const plain = <S extends Schema.Constraint>(type: string, schema: S): Column<S> => ({
  type,
  schema,
  write: (value) => value,
  read: (name) => name
})

export const text = plain("text", Schema.String)
export const integer = plain("integer", Schema.Int)
export const bigint = plain("bigint", Schema.Number)
export const boolean = plain("boolean", Schema.Boolean)
export const date = plain("date", Schema.String.pipe(Schema.brand("CalendarDate")))
/** An object that the database may normalize. */
export const jsonb = <S extends Schema.Constraint>(schema: S) => plain("jsonb", schema)

/** A text with the type of the domain's schema: a brand, or a union of literals. */
export const textOf = <S extends Schema.Codec<string, string>>(schema: S) =>
  plain("text", Schema.toType(schema))

export const numeric: Column<typeof Schema.BigDecimalFromString> = {
  type: "numeric",
  schema: Schema.BigDecimalFromString,
  write: (value) => BigDecimal.format(value as BigDecimal.BigDecimal),
  read: (name) => `${name}::text`
}

export const instant: Column<typeof Schema.DateTimeUtcFromString> = {
  ...plain("timestamptz", Schema.DateTimeUtcFromString),
  write: (value) => DateTime.formatIso(value as DateTime.Utc)
}

/** A column that may be null; the value is then absent. */
export const optional = <S extends Schema.Constraint>(
  column: Column<S>
): Column<Schema.optionalKey<S>> => ({ ...column, schema: Schema.optionalKey(column.schema) })

/** A column for which an insert stores this SQL expression of the sent values and the target. */
export const storedAs = <S extends Schema.Constraint>(
  column: Column<S>,
  expression: string
): Column<S> => ({ ...column, stored: expression })

/** A value that is sent only for the expression of another column. */
export const sentOnly = <S extends Schema.Constraint>(column: Column<S>): Column<S> => ({
  ...column,
  stored: null
})
