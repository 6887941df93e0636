/** Deletes the payloads of imports that became accounts long ago. */
import { DateTime, Effect, Schema } from "effect"
import type { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { wholePayload } from "@data-import/domain/schema/Rules"
import { type Database, rowsOf } from "../connection/Database.ts"

type Command = Parameters<ImportProcesses["Service"]["deletePayloads"]>[0]

/** At most so many stored bytes in one statement, and one payload at least. */
const sliceBytes = 16 * 1024 * 1024

const countRows = rowsOf(Schema.Struct({ count: Schema.Int, locked: Schema.Int }))

/**
 * One statement, so that no payload is deleted without what repeats it. Rows are looked up one by
 * one, because a plan that was made for a small table must also be good for a large one.
 */
export const deletePayloads = ({ sql }: Database["Service"], { importedBefore, limit }: Command) =>
  countRows(sql`
    with locked as materialized (
      select id, account_created_at, pg_column_size(payload) as bytes from import_processes
      where account_number is not null and payload is not null
        and account_created_at < ${DateTime.toDateUtc(importedBefore)}
      order by account_created_at limit ${limit}
      for no key update skip locked
    ),
    due as (
      select id from (
        select id, row_number() over before as place, sum(bytes) over before as bytes from locked
        window before as (order by account_created_at, id)) as measured
      where place = 1 or bytes <= ${sliceBytes}
    ),
    deleted as (
      update import_processes set payload = null where id = any (array(select id from due))
      returning id
    ),
    redacted as (
      update import_attempts set errors = (
        select jsonb_agg(jsonb_build_object('code', error ->> 'code',
          'attr', ${wholePayload}::text) order by place)
        from jsonb_array_elements(errors) with ordinality as each(error, place))
      where import_id = any (array(select id from deleted)) and errors <> '[]'
    )
    select (select count(*) from deleted)::integer as count,
      (select count(*) from locked)::integer as locked`).pipe(
    Effect.map(([row]) => row !== undefined && (row.locked === limit || row.count < row.locked))
  )
