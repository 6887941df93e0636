/** The size of tables on disk, and which of them were scanned sequentially. */
import { Effect } from "effect"
import type { Installation } from "./Installation.ts"
import { short, table } from "./Table.ts"

export interface Space {
  /** Sizes of tables by name, in bytes, with indexes and out-of-line storage (TOAST). */
  readonly tables: ReadonlyMap<string, number>
  /** Sizes of the indexes of the imports. */
  readonly indexes: ReadonlyMap<string, number>
  readonly imports: number
}

/** The tables that grow with the staged accounts. */
const growing = ["import_processes", "outbox", "audit_log", "audit_chains"]

const sizesIn = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  new Map(rows.map(({ bytes, name }) => [String(name), Number(bytes)]))

/** The disk space of the tables of staged accounts. */
export const of = Effect.fnUntraced(function* ({ query }: Installation) {
  const tables = yield* query(
    `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
     where relname = any ($1) and relkind = 'r' order by relname`,
    [growing]
  )
  const indexes = yield* query(
    `select indexrelid::regclass::text as name, pg_relation_size(indexrelid) as bytes
     from pg_index where indrelid = 'import_processes'::regclass order by 1`
  )
  const [count] = yield* query("select count(*) as imports from import_processes")
  return {
    tables: sizesIn(tables),
    indexes: sizesIn(indexes),
    imports: Number(count?.["imports"])
  } satisfies Space
})

export const asTable = (spaces: ReadonlyArray<readonly [size: number, space: Space]>): string => {
  const names = [...(spaces[0]?.[1].tables.keys() ?? [])]
  const indexes = [...(spaces[0]?.[1].indexes.keys() ?? [])]
  return table(
    [
      "accounts",
      "bytes an account",
      ...names.map((name) => `of ${name}`),
      ...indexes.map((name) => `${name} MB`)
    ],
    spaces.map(([size, { imports, indexes: sizes, tables }]) => [
      size.toLocaleString("en-GB"),
      short([...tables.values()].reduce((sum, bytes) => sum + bytes, 0) / imports),
      ...names.map((name) => short((tables.get(name) ?? 0) / imports)),
      ...indexes.map((name) => short((sizes.get(name) ?? 0) / 1e6))
    ])
  )
}

/** The number of sequential scans of each table so far. */
export const scans = Effect.fnUntraced(function* ({ query }: Installation) {
  // Backends flush their counters within a second, or at once on demand.
  yield* query("select pg_stat_force_next_flush(), pg_stat_clear_snapshot()")
  const rows = yield* query("select relname as name, seq_scan as bytes from pg_stat_user_tables")
  return sizesIn(rows)
})

/**
 * A sequential scan is the best plan for these tables, because they have few rows. Differences are
 * deleted when they are folded into the totals.
 */
const small = new Set([
  "allowances",
  "api_keys",
  "batch_workers",
  "batches",
  "choices",
  "import_differences",
  "migrations",
  "operations_teams",
  "organisations",
  "suppliers",
  "webhooks"
])

/** The large tables that have been scanned sequentially since `before`. */
export const newScans = (
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>
): ReadonlyArray<string> =>
  [...after]
    .filter(([name, count]) => !small.has(name) && count > (before.get(name) ?? 0))
    .map(([name, count]) => `${name} (${count - (before.get(name) ?? 0)})`)
