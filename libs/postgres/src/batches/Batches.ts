/** Batches in PostgreSQL: a row with the counts, and their lines in chunks. */
import { DateTime, Effect, Layer, Option, Result, Schema, Stream } from "effect"
import type { BatchId } from "@data-import/domain/batch/Batch"
import type { LineEnd } from "@data-import/domain/batch/BatchLine"
import { type BatchChange, Batches, type ProblemGroup } from "@data-import/domain/ports/Batches"
import { Database, rowsOf } from "../connection/Database.ts"
import * as BatchRow from "./BatchRow.ts"
import * as Chunks from "./Chunks.ts"
import * as Lines from "./Lines.ts"

type Sql = Database["Service"]["sql"]
type Port = Batches["Service"]
type Create = Parameters<Port["create"]>[0]
type Take = Parameters<Port["take"]>[0]
type Results = Parameters<Port["results"]>[0]

/** The organisation's batches are counted under a lock, so that two creations see each other. */
const create = Effect.fnUntraced(function* (sql: Sql, command: Create) {
  const { at, caller, id, limit, settings } = command
  const { organisation } = caller
  yield* sql`select pg_advisory_xact_lock(hashtextextended(${`batches ${organisation}`}, 0))`
  const [batch] = yield* BatchRow.batchesIn(sql`
    insert into batches (id, organisation, supplier, operation, name, operations_team, dry_run,
      cohort, retry_of, max_failures, parameters, created_at)
    select ${id}, ${organisation}, ${settings.supplier}, ${settings.operation}, ${settings.name},
      ${settings.operationsTeam}, ${settings.dryRun}, ${settings.cohort}, ${settings.retryOf},
      ${settings.maxFailures}, ${JSON.stringify(settings.parameters)}::json,
      ${DateTime.toDateUtc(at)}
    where (select count(*) from batches
      where organisation = ${organisation} and finished_at is null) < ${limit}
    returning ${sql.literal(BatchRow.batchColumns)}`)
  return Option.fromUndefinedOr(batch)
})

const list = (sql: Sql, { after, limit, supplier }: Parameters<Port["list"]>[0]) =>
  BatchRow.batchesIn(sql`
    select ${sql.literal(BatchRow.batchColumns)} from batches
    where supplier = ${supplier} ${
      after === null ? sql`` : sql`and number < (select number from batches where id = ${after})`
    }
    order by number desc limit ${limit}`)

const uploadRows = rowsOf(Schema.Struct({ uploads: Schema.Int }))

const beginUpload = (sql: Sql, id: BatchId) =>
  Effect.map(
    uploadRows(sql`update batches set uploads = uploads + 1 where id = ${id} returning uploads`),
    ([row]) => row?.uploads ?? 0
  )

/** A refusal of `decide` is a result, so that the transaction ends without an error. */
const change = Effect.fnUntraced(function* <E>(sql: Sql, command: BatchChange<E>) {
  const { at, decide, event, id } = command
  const before = yield* BatchRow.locked(sql, id)
  const decided = decide(before)
  if (Result.isFailure(decided) || decided.success === before) return decided
  yield* BatchRow.store(sql, decided.success)
  if (before.started === null && decided.success.started !== null) yield* Lines.link(sql, id)
  if (event !== null) {
    yield* sql`
      insert into outbox (at, name, batch, codes)
      values (${DateTime.toDateUtc(at)}, ${event}, ${id}, '{}')`
  }
  return decided
})

const take = Effect.fnUntraced(function* ({ run, sql }: Database["Service"], command: Take) {
  const connection = yield* run(sql.reserve)
  const onConnection = Effect.provideService(sql.transactionService, [connection, 0] as const)
  const inTransaction = <A, E>(effect: Effect.Effect<A, E>) => run(onConnection(effect))
  yield* inTransaction(sql`begin`)
  yield* Effect.addFinalizer(() => Effect.ignore(inTransaction(sql`rollback`)))
  const chunk = yield* inTransaction(Chunks.take(sql, command))
  if (Option.isNone(chunk)) return Option.none()
  const [batch] = yield* run(
    BatchRow.batchesIn(sql`
      update batches set is_taken = true where id = ${chunk.value.batch}
      returning ${sql.literal(BatchRow.batchColumns)}`)
  )
  if (batch === undefined) return Option.none()
  return Option.some({
    batch,
    lines: Chunks.linesOf(chunk.value),
    finish: (finishing: Chunks.Finishing) =>
      inTransaction(Effect.andThen(Chunks.finish(sql, chunk.value, finishing), sql`commit`)).pipe(
        Effect.as(true)
      )
  })
})

const resultRows = rowsOf(
  Schema.Struct({
    line: Schema.Int,
    outcome: Schema.NullOr(Schema.String),
    text: Schema.NullOr(Schema.String)
  })
)

/** Chunks whose results are read at once. */
const chunksOfPage = 20

interface Page {
  readonly results: ReadonlyArray<Pick<LineEnd, "line" | "text">>
  readonly next: number | null
}

const page = Effect.fnUntraced(function* (sql: Sql, query: Results, after: number) {
  const rows = yield* resultRows(sql`
    select first_line + place::integer - 1 as line, outcome, result as text
    from (
      select * from batch_chunks
      where batch = ${query.id} and first_line + line_count > ${after + 1}
      order by first_line limit ${chunksOfPage}
    ) as chunk, unnest(outcomes, results) with ordinality as of_line(outcome, result, place)
    where first_line + place - 1 > ${after}
    order by line`)
  const firstOpen = rows.findIndex(({ outcome }) => outcome === null)
  const isCut = firstOpen !== -1 && !query.isComplete
  const results = rows
    .slice(0, isCut ? firstOpen : undefined)
    .filter(({ outcome }) => outcome !== null)
    .filter(({ outcome }) => query.outcome === null || outcome === query.outcome)
    .map(({ line, text }) => ({ line, text: text ?? "" }))
  return { results, next: isCut ? null : (rows.at(-1)?.line ?? null) } satisfies Page
})

const results = ({ run, sql }: Database["Service"], query: Results): ReturnType<Port["results"]> =>
  Stream.paginate(
    query.afterLine,
    Effect.fnUntraced(function* (after: number) {
      const { next, results } = yield* run(page(sql, query, after))
      return [results, Option.fromNullishOr(next)] as const
    })
  )

const problemRows = rowsOf(
  Schema.Struct({
    code: Schema.String,
    attr: Schema.String,
    lines: Schema.Int,
    examples: Schema.Array(
      Schema.Struct({
        line: Schema.Int,
        externalAccountNumber: Schema.NullOr(Schema.String),
        detail: Schema.String
      })
    )
  })
)

const problems = (sql: Sql, id: BatchId) =>
  Effect.map(
    problemRows(sql`
      select code, attr, lines, examples from batch_problems
      where batch = ${id} order by lines desc, code, attr`),
    (rows) => rows as ReadonlyArray<ProblemGroup>
  )

const make = Effect.gen(function* () {
  const database = yield* Database
  const { run, sql } = database
  return Batches.of({
    create: (command) => run(sql.withTransaction(create(sql, command))),
    find: (organisation, id) => run(BatchRow.find(sql, organisation, id)),
    list: (query) => run(list(sql, query)),
    beginUpload: (id) => run(beginUpload(sql, id)),
    append: (command) => run(sql.withTransaction(Lines.append(sql, command))),
    change: (command) =>
      Effect.flatMap(run(sql.withTransaction(change(sql, command))), (decided) =>
        Effect.fromResult(decided)
      ),
    cancelLines: (at) => run(sql.withTransaction(Chunks.cancel(sql, at))),
    take: (command) => take(database, command),
    results: (query) => results(database, query),
    problems: (id) => run(problems(sql, id))
  })
})

export const layer: Layer.Layer<Batches, never, Database> = Layer.effect(Batches, make)
