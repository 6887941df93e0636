/**
 * Moves of accounts between cohorts. Each statement moves a bounded part of the accounts, and keeps
 * with it what they had before. The first that moves an account records the move.
 */
import { DateTime, Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { type CohortMove, CohortMoves, MoveId } from "@data-import/domain/migrations/CohortMoves"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { auditEntry, isPending } from "../audit/ChangeEntries.ts"
import { Database, rowsOf } from "../connection/Database.ts"
import { breaks } from "../connection/SqlFailure.ts"
import { isStorableKey } from "../tables/ImportRow.ts"

type Sql = Database["Service"]["sql"]
type Port = CohortMoves["Service"]
type Writing = Parameters<Port["move"]>[0] | Parameters<Port["undo"]>[0]

const Instant = Schema.DateTimeUtcFromDate
const Cohort = Schema.NullOr(Schema.String)
const Id = Schema.NullOr(Schema.BigIntFromString)

/** How many accounts an undo restores at once. */
const partSize = 1_000

/** How many accounts a statement looks at. */
const lookedAt = 20_000

/** Whether `present` was in a later move than this one that was not undone. */
const wasMovedLater = (sql: Sql, move: MoveId) => sql`
  exists (
    select from moved_imports as other join cohort_moves as later on later.id = other.move
    where other.import_id = present.id and later.id <> ${move}::uuid and later.undoes is null
      and later.moved_at >= (select moved_at from cohort_moves where id = ${move}::uuid)
      and not exists (select from cohort_moves as undo where undo.undoes = later.id))`

const isRestorable = (sql: Sql, move: MoveId, at: DateTime.Utc) => sql`
  ${isPending(sql, at)} and present.cohort is not distinct from (
    select to_cohort from cohort_moves where id = ${move}::uuid)
  and not ${wasMovedLater(sql, move)}`

const isUnmoved = (sql: Sql, move: MoveId) => sql`
  not exists (
    select from moved_imports where move = ${move}::uuid and import_id = present.id)`

/** Writes what follows from `changed`: the imports with the cohort that each had `before`. */
const kept = (
  sql: Sql,
  { at, caller, id, supplier }: Writing,
  {
    outcome,
    to,
    undoes
  }: {
    readonly outcome: string
    readonly to: string | null
    readonly undoes: MoveId | null
  }
): Statement.Fragment => {
  const key = { import_supplier: supplier, external_account_number: null }
  const write = { at, caller, action: "move_accounts", outcome: `${outcome} ${id}`, key } as const
  return sql`begun as (
      insert into cohort_moves (id, supplier, to_cohort, moved_by, moved_at, undoes)
      select ${id}::uuid, ${supplier}, ${to}::text, ${caller.apiKey}, ${DateTime.toDateUtc(at)},
        ${undoes}::uuid
      where exists (select from changed)
      on conflict on constraint cohort_moves_pkey do nothing returning id
    ),
    moved as (
      insert into moved_imports (move, import_id, from_cohort)
      select ${id}::uuid, id, before from changed
    ),
    counted as (
      insert into moved_counts as present (move, from_cohort, accounts)
      select ${id}::uuid, coalesce(before, ''), count(*) from changed group by before
      on conflict on constraint moved_counts_pkey do update
      set accounts = present.accounts + excluded.accounts
    ),
    audit as (${auditEntry(sql, write, sql`from begun`)})`
}

const changedRows = rowsOf(Schema.Struct({ changed: Schema.Int }))

/** In the order of the numbers, so that two of them never wait for each other. */
const move = (sql: Sql, command: Parameters<Port["move"]>[0]) => {
  const { at, cohort, id, numbers, supplier } = command
  return changedRows(sql`
    with due as (
      select id, cohort from import_processes as present
      where supplier = ${supplier} and external_account_number = any(${numbers}::text[])
        and ${isPending(sql, at)} and cohort is distinct from ${cohort}::text
        and ${isUnmoved(sql, id)}
      order by external_account_number for update
    ),
    changed as (
      update import_processes set cohort = ${cohort} from due
      where import_processes.id = due.id returning due.id, due.cohort as before
    ),
    ${kept(sql, command, { outcome: "moved", to: cohort, undoes: null })}
    select count(*)::int as changed from changed`).pipe(Effect.map(([row]) => row?.changed ?? 0))
}

const partRows = rowsOf(Schema.Struct({ scanned: Schema.Int, last: Id, changed: Schema.Int }))

/** The part of a move after an import, in the order of their ids. */
const partOf = (sql: Sql, id: MoveId, after: bigint | null, size: number) => sql`
  select import_id, from_cohort from moved_imports
  where move = ${id}::uuid and import_id > ${String(after ?? 0n)}::bigint
  order by import_id limit ${size}`

const scan = (sql: Sql) => sql`
  (select count(*)::int from part) as scanned, (select max(import_id)::text from part) as last`

const undo = (sql: Sql, command: Parameters<Port["undo"]>[0]) => {
  const { after, at, id, undoes } = command
  return partRows(sql`
    with part as materialized (${partOf(sql, undoes, after, partSize)}),
    due as (
      select present.id, present.cohort, from_cohort
      from part join import_processes as present on present.id = import_id
      where ${isRestorable(sql, undoes, at)} and ${isUnmoved(sql, id)}
      order by external_account_number for update of present
    ),
    changed as (
      update import_processes set cohort = from_cohort from due
      where import_processes.id = due.id returning due.id, due.cohort as before
    ),
    ${kept(sql, command, { outcome: "undone", to: null, undoes })}
    select ${scan(sql)}, (select count(*)::int from changed) as changed`).pipe(
    // Another undo of the move has begun meanwhile, and restores it.
    Effect.catchIf(breaks("cohort_moves_undone_once"), () => Effect.succeed([])),
    Effect.map(([{ changed, last, scanned } = { changed: 0, last: null, scanned: 0 }]) => ({
      changed,
      next: scanned < partSize ? null : last
    }))
  )
}

const otherRows = rowsOf(Schema.Struct({ scanned: Schema.Int, last: Id, others: Schema.Int }))

const isExact = Effect.fnUntraced(function* (
  { run, sql }: Database["Service"],
  id: MoveId,
  at: DateTime.Utc
) {
  let after: bigint | null = null
  do {
    const rows: Effect.Success<ReturnType<typeof otherRows>> = yield* run(
      otherRows(sql`
        with part as materialized (${partOf(sql, id, after, lookedAt)})
        select ${scan(sql)}, (
          select count(*)::int from part join import_processes as present on present.id = import_id
          where not (${isRestorable(sql, id, at)}) and not exists (
            select from cohort_moves as undo join moved_imports as restored
              on restored.move = undo.id and restored.import_id = part.import_id
            where undo.undoes = ${id}::uuid)) as others`)
    )
    const [{ last, others, scanned } = { last: null, others: 0, scanned: 0 }] = rows
    if (others > 0) return false
    after = scanned < lookedAt ? null : last
  } while (after !== null)
  return true
})

const foundRows = rowsOf(
  Schema.Struct({
    id: MoveId,
    supplier: SupplierCode,
    by: Schema.String,
    at: Instant,
    from: Schema.Array(Schema.Struct({ cohort: Cohort, accounts: Schema.Int })),
    to: Schema.Array(Cohort),
    undoes: Schema.NullOr(MoveId),
    undoneBy: Schema.NullOr(MoveId)
  })
)

const find = (sql: Sql, ids: ReadonlyArray<MoveId>) =>
  foundRows(sql`
    select id, supplier, moved_by as by, moved_at as at, undoes,
      (select id from cohort_moves as undo where undo.undoes = present.id) as "undoneBy",
      coalesce((
        select json_agg(json_build_object('cohort', nullif(from_cohort, ''), 'accounts', accounts)
          order by from_cohort collate "C")
        from moved_counts where move = present.id), '[]') as from,
      case when undoes is null then json_build_array(to_cohort) else (
        select json_agg(nullif(from_cohort, '') order by from_cohort collate "C")
        from moved_counts where move = undoes) end as to
    from cohort_moves as present where id = any(${ids}::uuid[])`).pipe(
    Effect.map((rows): ReadonlyMap<MoveId, CohortMove> => new Map(rows.map((row) => [row.id, row])))
  )

const accountRows = rowsOf(
  Schema.Struct({
    id: MoveId,
    by: Schema.String,
    at: Instant,
    from: Cohort,
    to: Cohort,
    isUndo: Schema.Boolean
  })
)

const ofImport = (sql: Sql, ...[key, limit]: Parameters<Port["ofImport"]>) =>
  accountRows(sql`
    select move as id, moved_by as by, moved_at as at, from_cohort as from,
      case when undoes is null then to_cohort else (
        select from_cohort from moved_imports as undone
        where undone.move = undoes and undone.import_id = mine.import_id) end as to,
      undoes is not null as "isUndo"
    from moved_imports as mine join cohort_moves on cohort_moves.id = move
    where import_id = (
      select id from import_processes where supplier = ${key.import_supplier}
        and external_account_number = ${key.external_account_number})
    order by moved_at desc limit ${limit}`)

export const layer: Layer.Layer<CohortMoves, never, Database> = Layer.effect(
  CohortMoves,
  Effect.map(Database, (database) => {
    const { run, sql } = database
    return CohortMoves.of({
      move: (command) => run(move(sql, command)),
      undo: (command) => run(undo(sql, command)),
      find: (ids) => (ids.length === 0 ? Effect.succeed(new Map()) : run(find(sql, ids))),
      isExact: (id, at) => isExact(database, id, at),
      ofImport: (key, limit) =>
        isStorableKey(key) ? run(ofImport(sql, key, limit)) : Effect.succeed([])
    })
  })
)
