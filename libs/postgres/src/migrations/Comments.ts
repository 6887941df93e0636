/** Comments in PostgreSQL. They are only ever inserted; an erasure deletes the text of some. */
import { DateTime, Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import {
  type Comment,
  CommentAbout,
  CommentId,
  commentOutcome,
  Comments,
  type Reason,
  type StatusReason
} from "@data-import/domain/migrations/Comments"
import { OpenItem } from "@data-import/domain/migrations/OpenItems"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { auditEntry } from "../audit/ChangeEntries.ts"
import { Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]
type Port = Comments["Service"]
type Adding = Parameters<Port["add"]>[0]

const row = {
  supplier: SupplierCode,
  by: Schema.String,
  at: Schema.DateTimeUtcFromDate,
  open: Schema.NullOr(Schema.Array(OpenItem))
}

const commentRows = rowsOf(
  Schema.Struct({
    ...row,
    id: CommentId,
    number: Schema.BigInt,
    cohort: Schema.NullOr(Schema.String),
    account: Schema.NullOr(ExternalAccountNumber),
    about: CommentAbout,
    text: Schema.NullOr(Schema.String)
  })
)

/** The import is joined, because its number is the only place that a comment has it from. */
const select = (sql: Sql) => sql`
  select comments.id, comments.number, comments.supplier, comments.cohort, about, text, open,
    said_by as by, said_at as at, external_account_number as account
  from comments left join import_processes on import_processes.id = import_id`

/** Inserts as `changed`, and its entry, for each row of `source`, which has an `import_id`. */
const insert = (sql: Sql, command: Adding, source: Statement.Fragment): Statement.Fragment => {
  const { about, account, at, caller, cohort, id, open, supplier, text } = command
  const key = { import_supplier: supplier, external_account_number: account }
  const write = { at, caller, action: "comment", outcome: commentOutcome(command), key } as const
  return sql`
    changed as (
      insert into comments (id, supplier, cohort, import_id, about, text, open, said_by, said_at)
      select ${id}::uuid, ${supplier}, ${cohort}::text, import_id, ${about}, ${text},
        ${open === null ? null : JSON.stringify(open)}::jsonb, ${caller.apiKey},
        ${DateTime.toDateUtc(at)}
      from ${source} on conflict on constraint comments_pkey do nothing returning id
    ),
    audit as (${auditEntry(sql, write)})`
}

/** The lock waits for an erasure of the account, and an erasure waits for it. */
const add = (sql: Sql, command: Adding) => {
  const { account, supplier } = command
  const subject =
    account === null
      ? sql`select null::bigint as import_id`
      : sql`select id as import_id from import_processes where supplier = ${supplier}
          and external_account_number = ${account} and erased_at is null for share`
  return sql`
    with subject as (${subject}), ${insert(sql, command, sql`subject`)}
    select from changed`
}

/** Stores why the supplier has its status, unless that is known. Runs in the change's transaction. */
export const explain = (
  sql: Sql,
  command: Pick<Adding, "at" | "caller" | "supplier"> & {
    readonly about: CommentAbout
    readonly reason: Reason
  }
) => {
  const id = CommentId.make(crypto.randomUUID())
  const comment = { ...command, ...command.reason, id, cohort: null, account: null }
  const unexplained = sql`(
    select null::bigint as import_id from suppliers
    where code = ${command.supplier} and status_comment is null) as unexplained`
  return sql`
    with ${insert(sql, comment, unexplained)}
    update suppliers set status_comment = changed.id from changed where code = ${command.supplier}`
}

const list = (sql: Sql, query: Parameters<Port["list"]>[0]) => {
  const { about, account, before, cohort, limit, supplier } = query
  const ofImport = sql`and import_id = (
    select id from import_processes
    where supplier = ${supplier} and external_account_number = ${account ?? ""})`
  return commentRows(sql`
    ${select(sql)} where comments.supplier = ${supplier}
      ${cohort === undefined ? sql`` : sql`and comments.cohort = ${cohort}`}
      ${account === undefined ? sql`` : ofImport}
      ${about === undefined ? sql`` : sql`and about = ${about}`}
      ${before === null ? sql`` : sql`and comments.number < ${String(before)}::bigint`}
    order by comments.number desc limit ${limit}`)
}

const reasonRows = rowsOf(Schema.Struct({ ...row, text: Schema.String }))

const reasons = (sql: Sql, suppliers: ReadonlyArray<SupplierCode>) =>
  reasonRows(sql`
    select supplier, text, open, said_by as by, said_at as at
    from suppliers join comments on comments.id = status_comment
    where code = any(${suppliers}::text[])`)

export const layer: Layer.Layer<Comments, never, Database> = Layer.effect(
  Comments,
  Effect.map(Database, ({ run, sql }) =>
    Comments.of({
      add: (command) => run(Effect.asVoid(add(sql, command))),
      find: (ids) =>
        ids.length === 0
          ? Effect.succeed(new Map<CommentId, Comment>())
          : run(commentRows(sql`${select(sql)} where comments.id = any(${ids}::uuid[])`)).pipe(
              Effect.map((rows) => new Map(rows.map((each) => [each.id, each])))
            ),
      list: (query) => run(list(sql, query)),
      reasons: (suppliers) =>
        run(reasons(sql, suppliers)).pipe(
          Effect.map(
            (rows): ReadonlyMap<SupplierCode, StatusReason> =>
              new Map(rows.map((each) => [each.supplier, each]))
          )
        )
    })
  )
)
