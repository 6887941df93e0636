/** Deletes the payloads of imports that became accounts long ago. */
import { DateTime, Effect, Schema } from "effect"
import type { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { wholePayload } from "@data-import/domain/schema/Rules"
import { type Database, rowsOf } from "../connection/Database.ts"

type Command = Parameters<ImportProcesses["Service"]["deletePayloads"]>[0]

/** The imports whose payload is to be deleted at some time, built while requests continue. */
export const payloadIndexes = {
  import_processes_with_payload:
    "import_processes (account_created_at) where account_number is not null and payload is not null"
}

const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/**
 * One statement, so that no payload is deleted without what repeats it. Rows are looked up one by
 * one, because a plan that was made for a small table must also be good for a large one.
 */
export const deletePayloads = ({ sql }: Database["Service"], { importedBefore, limit }: Command) =>
  countRows(sql`
    with due as (
      select id from import_processes
      where account_number is not null and payload is not null
        and account_created_at < ${DateTime.toDateUtc(importedBefore)}
      order by account_created_at limit ${limit}
      for no key update skip locked
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
    select count(*)::integer as count from deleted`).pipe(
    Effect.map(([row]) => row?.count === limit)
  )
