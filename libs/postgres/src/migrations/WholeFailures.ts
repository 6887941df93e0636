/**
 * Everything that the supplier of a migration has to correct, read page by page: its failed imports
 * with all errors, and the lines that were refused before there was an import.
 */
import { Effect, Option, Schema, Stream } from "effect"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { BatchId } from "@data-import/domain/batches/Batch"
import type { ImportSearch, RefusedLine } from "@data-import/domain/migrations/ImportSearch"
import { type Database, rowsOf } from "../connection/Database.ts"
import { foundInPart, partByPart, sourceOf, stateOf } from "../imports/ImportSource.ts"
import { AttemptError } from "../tables/AttemptError.ts"

type Search = ImportSearch["Service"]

/** How many imports or lines a statement looks at. */
const pageSize = 500

const failedRows = rowsOf(
  Schema.Struct({
    scanned: Schema.Int,
    last: Schema.NullOr(Schema.String),
    number: Schema.NullOr(ExternalAccountNumber),
    outcome: Schema.NullOr(Schema.String),
    errors: Schema.NullOr(Schema.Array(AttemptError))
  })
)

type FailuresQuery = Parameters<Search["failures"]>[0]

const failedPage = (
  { sql }: Database["Service"],
  { at, cohort, supplier }: FailuresQuery,
  after: string
) => {
  const part = { supplier, kind: "all", after, size: pageSize } as const
  return failedRows(sql`
    with part(id, place) as materialized (${sourceOf(sql, { failed: true }, part)}),
    found as (
      select external_account_number as number, coalesce(outcome, 'lease_expired') as outcome,
        errors
      from part cross join lateral (
        select * from import_processes where id = part.id offset 0
      ) as present cross join lateral (
        select outcome, errors from import_attempts where import_id = present.id and not dry_run
        order by sequence desc limit 1
      ) as latest
      where ${stateOf(sql, at)} = 'FAILED' ${cohort === null ? sql`` : sql`and cohort = ${cohort}`}
    )
    ${sql.literal(foundInPart)}`)
}

export const failures = (database: Database["Service"], query: FailuresQuery) =>
  partByPart(pageSize, (after) => database.run(failedPage(database, query, after))).pipe(
    Stream.flatMap(({ errors, number, outcome }) =>
      number === null || outcome === null || errors === null
        ? Stream.empty
        : Stream.succeed({ number, outcome, errors })
    )
  )

const refusedRows = rowsOf(
  Schema.Struct({
    batch: BatchId,
    line: Schema.Int,
    number: Schema.NullOr(Schema.String),
    result: Schema.String
  })
)

type RefusalsQuery = Parameters<Search["refusals"]>[0]

/** Each chunk is read once, since it is decompressed as a whole. */
const refusedPage = (
  { sql }: Database["Service"],
  { cohort, supplier }: RefusalsQuery,
  after: Pick<RefusedLine, "batch" | "line"> | null,
  size: number
) =>
  refusedRows(sql`
    with refused as materialized (
      select batch, line from refused_lines
      where supplier = ${supplier} ${cohort === null ? sql`` : sql`and cohort = ${cohort}`}
        ${after === null ? sql`` : sql`and (batch, line) > (${after.batch}, ${after.line})`}
        and exists (select from batches where id = batch and finished_at is not null)
      order by batch, line limit ${size}
    ),
    needed as (
      select distinct batch, (
        select max(first_line) from batch_chunks as chunk
        where chunk.batch = refused.batch and first_line <= line) as first_line
      from refused
    )
    select batch, line, number, result
    from needed join batch_chunks using (batch, first_line)
      cross join unnest(numbers, results) with ordinality as of_line(number, result, place)
      join refused using (batch)
    where line = first_line + place - 1
    order by batch, line`)

/** Reads the refused lines in pages of this size. */
export const refusalsBy = (size: number) => (database: Database["Service"], query: RefusalsQuery) =>
  Stream.paginate(
    null,
    Effect.fnUntraced(function* (after: Pick<RefusedLine, "batch" | "line"> | null) {
      const rows = yield* database.run(refusedPage(database, query, after, size))
      return [rows, Option.fromNullishOr(rows.at(-1))] as const
    })
  )

export const refusals = refusalsBy(pageSize)
