/**
 * The problems of failed lines, counted when lines end: each problem, and each set of problems that
 * a line has. Their keys are digests, because a path may be too long for an index. A batch has a
 * bounded number of each, so that reading them takes no longer for a batch of many: every line
 * could have its own names of unknown fields.
 */
import { Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import type { BatchId } from "@data-import/domain/batches/Batch"
import type { EndedLine, LineProblem } from "@data-import/domain/batches/BatchLine"
import type { Problems } from "@data-import/domain/batches/Problems"
import type { Batches } from "@data-import/domain/batches/Batches"
import { type Database, rowsOf, storable } from "../connection/Database.ts"
import { recordSet } from "../tables/RecordSet.ts"

type Sql = Database["Service"]["sql"]
type Query = Parameters<Batches["Service"]["problems"]>[0]

/** The problem itself, which is the same for all lines that have it. */
type Problem = Pick<LineProblem, "attr" | "code">

const examplesOfProblem = 5

/** Replaces what PostgreSQL cannot store in a name or a text. */
const storableOf = ({ attr, detail, ...problem }: LineProblem): LineProblem => ({
  ...problem,
  attr: storable(attr),
  detail: detail === null ? null : storable(detail)
})

/** The key by which a problem is counted. */
export const keyOf = ({ attr, code }: Readonly<Record<keyof Problem, string>>): string =>
  JSON.stringify([code, storable(attr)])

/** The distinct problems of a line in the order of their keys. */
const distinct = ({ problems }: EndedLine): ReadonlyArray<LineProblem> =>
  [...new Map(problems.map(storableOf).map((problem) => [keyOf(problem), problem]))]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, problem]) => problem)

const problemsIn = (ended: ReadonlyArray<EndedLine>) => {
  const found = ended.flatMap((end) =>
    distinct(end).map(({ attr, code, ...text }) => {
      const { externalAccountNumber, line } = end
      return { code, attr, example: { line, externalAccountNumber, ...text } }
    })
  )
  return [...Map.groupBy(found, keyOf)].map(([key, same]) => ({
    key,
    lines: same.length,
    examples: same.slice(0, examplesOfProblem).map(({ example }) => example)
  }))
}

const setsIn = (ended: ReadonlyArray<EndedLine>) => {
  const sets = ended.map((end) => distinct(end).map(({ attr, code }) => [code, attr]))
  return [
    ...Map.groupBy(
      sets.filter(({ length }) => length > 0),
      (set) => JSON.stringify(set)
    )
  ].map(([key, same]) => ({ key, lines: same.length }))
}

/** How many problems, or sets of them, a batch counts, and how many bytes their keys may have. */
export const mostCounted = {
  rows: 10_000,
  problemBytes: 4 * 1024 * 1024,
  setBytes: 2 * 1024 * 1024
}

/** Keys that are counted already, and new ones as long as there is room. In order, see `add`. */
const counted = (
  sql: Sql,
  batch: BatchId,
  {
    bytes,
    mostBytes,
    sent,
    table
  }: Readonly<Record<"bytes" | "table", string>> & {
    readonly mostBytes: number
    readonly sent: Statement.Fragment
  }
) => sql`
  select sent.* from (
    select sent.*, is_known,
      count(*) filter (where not is_known) over before as new_rows,
      sum(octet_length(key)) filter (where not is_known) over before as new_bytes
    from ${sent} cross join lateral (
      select exists (
        select from ${sql(table)} where batch = ${batch} and digest = md5(key)) as is_known
    ) as known
    window before as (order by md5(key))
  ) as sent, (
    select count(*) as rows, coalesce(sum(octet_length(${sql.literal(bytes)})), 0) as bytes
    from ${sql(table)} where batch = ${batch}
  ) as present
  where is_known or (present.rows + new_rows <= ${mostCounted.rows}
    and present.bytes + new_bytes <= ${mostBytes})
  order by md5(key)`

const bytesRows = rowsOf(Schema.Struct({ bytes: Schema.Int }))

/**
 * Returns how many bytes more are stored. In the order of their keys, so that two workers never
 * wait for each other.
 */
export const add = Effect.fnUntraced(function* (
  sql: Sql,
  batch: BatchId,
  ended: ReadonlyArray<EndedLine>
) {
  const problems = problemsIn(ended)
  if (problems.length === 0) return 0
  const bytes = sql`octet_length(code) + octet_length(attr) + octet_length(examples::text)`
  const [ofProblems] = yield* bytesRows(sql`
    with earlier as (
      select coalesce(sum(${bytes}), 0) as bytes from batch_problems
      where batch = ${batch} and digest = any(array(
        select md5(key) from unnest(${problems.map(({ key }) => key)}::text[]) as key))
    ),
    stored as (
    insert into batch_problems as present (batch, digest, code, attr, lines, examples)
    select ${batch}::uuid, md5(key), key::json ->> 0, key::json ->> 1, lines, examples
    from (${counted(sql, batch, {
      table: "batch_problems",
      bytes: "attr",
      mostBytes: mostCounted.problemBytes,
      sent: recordSet(sql, "sent", problems, {
        key: ["text", ({ key }) => key],
        lines: ["integer", ({ lines }) => lines],
        examples: ["jsonb", ({ examples }) => JSON.stringify(examples)]
      })
    })}) as problem
    on conflict on constraint batch_problems_pkey do update
    set lines = present.lines + excluded.lines,
      examples = (
        select jsonb_agg(example order by number) from (
          select example, (example ->> 'line')::integer as number
          from jsonb_array_elements(present.examples || excluded.examples) as example
          order by number limit ${examplesOfProblem}
        ) as first_examples)
    returning ${bytes} as bytes)
    select (coalesce(sum(stored.bytes), 0) - (select bytes from earlier))::integer as bytes
    from stored`)
  const [ofSets] = yield* bytesRows(sql`
    with stored as (
    insert into batch_problem_sets as present (batch, digest, problems, lines)
    select ${batch}::uuid, md5(key), key::json, lines
    from (${counted(sql, batch, {
      table: "batch_problem_sets",
      bytes: "problems::text",
      mostBytes: mostCounted.setBytes,
      sent: recordSet(sql, "sent", setsIn(ended), {
        key: ["text", ({ key }) => key],
        lines: ["integer", ({ lines }) => lines]
      })
    })}) as problem_set
    on conflict on constraint batch_problem_sets_pkey do update
    set lines = present.lines + excluded.lines
    returning case when present.xmax = 0 then octet_length(problems::text) else 0 end as bytes)
    select coalesce(sum(bytes), 0)::integer as bytes from stored`)
  return (ofProblems?.bytes ?? 0) + (ofSets?.bytes ?? 0)
})

/** Only the most frequent sets are read, because solving a rare one clears few lines. Bytes. */
const mostRead = 256 * 1024

const groupRows = rowsOf(
  Schema.Struct({
    code: Schema.String,
    attr: Schema.String,
    lines: Schema.Int,
    examples: Schema.Array(
      Schema.Struct({
        line: Schema.Int,
        externalAccountNumber: Schema.NullOr(Schema.String),
        detail: Schema.NullOr(Schema.String),
        businessDay: Schema.optionalKey(Schema.String)
      })
    )
  })
)

const setRows = rowsOf(
  Schema.Struct({
    problems: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
    lines: Schema.Int
  })
)

export const read = Effect.fnUntraced(function* (sql: Sql, { id, limit }: Query) {
  const groups = yield* groupRows(sql`
    select code, attr, lines, examples from batch_problems
    where batch = ${id} order by lines desc, code collate "C", attr collate "C" limit ${limit}`)
  const sets = yield* setRows(sql`
    select problems, lines from (
      select problems, lines, sum(octet_length(problems::text)) over (
        order by lines desc, digest rows unbounded preceding) as bytes
      from batch_problem_sets where batch = ${id}
    ) as frequent where bytes <= ${mostRead}`)
  // The codes are those that `add` stored.
  return {
    groups,
    sets: sets.map(({ lines, problems }) => ({
      lines,
      problems: problems.map(([code, attr]) => ({ code, attr }))
    }))
  } as Problems
})

/** Deletes what is recorded about single lines. */
export const redact = (sql: Sql, id: BatchId) => sql`
  update batch_problems set examples = (
    select jsonb_agg(example || '{"detail": null}' order by place)
    from jsonb_array_elements(examples) with ordinality as present(example, place))
  where batch = ${id}`
