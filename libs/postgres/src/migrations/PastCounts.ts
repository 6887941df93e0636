/** The counts of imports before given instants, from their hourly history. */
import { Array, DateTime, Effect, Schema } from "effect"
import type { Migrations, PastCounts } from "@data-import/domain/migrations/Migrations"
import { type Database, rowsOf } from "../connection/Database.ts"

type Query = Parameters<Migrations["Service"]["history"]>[0]

interface Asked extends Omit<Query, "supplier"> {
  /** Their counts are added up. */
  readonly suppliers: ReadonlyArray<Query["supplier"]>
  readonly hasCodes: boolean
}

const changeRows = rowsOf(
  Schema.Struct({
    kind: Schema.Literals(["state", "code", "balance"]),
    name: Schema.String,
    /** The count at each instant; null if it is the same as at the previous one. */
    changes: Schema.Array(Schema.NullOr(Schema.Int))
  })
)

/** Each count at each instant; one that did not change is that of the previous instant. */
export const pastCounts = (
  rows: Effect.Success<ReturnType<typeof changeRows>>,
  steps: number
): ReadonlyArray<PastCounts> => {
  const past = Array.makeBy(steps, () => ({
    staged: 0,
    imported: 0,
    failed: 0,
    codes: {} as Record<string, number>
  }))
  for (const { changes, kind, name } of rows) {
    let count = 0
    for (const [index, counts] of past.entries()) {
      count = changes[index] ?? count
      if (kind === "balance") counts.imported += count
      else if (kind === "state") counts.staged += count
      else if (count !== 0) counts.codes[name] = count
      if (kind === "state" && name === "FAILED") counts.failed += count
    }
  }
  return past
}

/** The history has nothing before. */
const beginning = DateTime.makeUnsafe(0)

/**
 * One look-up by index for each count and instant, however long the history is. It looks back only
 * to the previous instant, because PostgreSQL reads all entries of a page of the index that are in
 * its bounds.
 */
export const pastOf = (
  { sql }: Database["Service"],
  { before, cohort, hasCodes, suppliers }: Asked
) => {
  const kinds = ["state", "balance", ...(hasCodes ? ["code"] : [])]
  const previous = [beginning, ...before.slice(0, -1)]
  return changeRows(sql`
    select kind, name, to_json(array(
      select (
        select count from import_history
        where supplier = known.supplier and cohort = ${cohort ?? ""} and kind = known.kind
          and name = known.name and hour >= previous and hour < instant
        order by hour desc limit 1
      )
      from unnest(
        ${previous.map(DateTime.toDateUtc)}::timestamptz[],
        ${before.map(DateTime.toDateUtc)}::timestamptz[]
      ) with ordinality as step (previous, instant, place)
      order by place
    )) as changes
    from import_totals as known
    where supplier = any(${suppliers}::text[]) and cohort = ${cohort ?? ""}
      and kind = any(${kinds}::text[])`).pipe(Effect.map((rows) => pastCounts(rows, before.length)))
}

export const history = (database: Database["Service"], { supplier, ...query }: Query) =>
  pastOf(database, { ...query, suppliers: [supplier], hasCodes: true })
