/** Alerts in PostgreSQL: the settings of users, and what is found for them. */
import { DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import type { Statement } from "effect/sql"
import { alertKinds } from "@data-import/domain/alerts/Alert"
import { Alerts } from "@data-import/domain/alerts/Alerts"
import { CertificateId } from "@data-import/domain/certificates/Certificates"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { recordOperator } from "../audit/ChangeEntries.ts"
import { Database, rowsOf } from "../connection/Database.ts"
import * as Deliveries from "./AlertDeliveries.ts"

type Sql = Database["Service"]["sql"]
type Port = Alerts["Service"]

const Instant = Schema.DateTimeUtcFromDate
const { toDateUtc } = DateTime

const Kind = Schema.Literals(alertKinds)

const settingsRows = rowsOf(
  Schema.Struct({
    kinds: Schema.Array(Kind),
    failingShare: Schema.Int,
    suppliers: Schema.NullOr(Schema.Array(SupplierCode)),
    email: Schema.NullOr(Schema.String),
    webhook: Schema.NullOr(Schema.String)
  })
)

const read = (sql: Sql, subject: string) =>
  settingsRows(sql`
    select kinds, failing_share as "failingShare", suppliers, email, webhook
    from alert_settings where subject = ${subject}`).pipe(
    Effect.map(([row]) =>
      Option.map(Option.fromNullishOr(row), ({ webhook, ...rest }) => ({
        ...rest,
        webhook: webhook === null ? null : Redacted.make(webhook)
      }))
    )
  )

const save = Effect.fnUntraced(function* (
  sql: Sql,
  { at, settings, signedInAt, user }: Parameters<Port["save"]>[0]
) {
  const { email, failingShare, kinds, suppliers, webhook } = settings
  yield* sql`
    insert into alert_settings (subject, name, organisations, signed_in_at, kinds, failing_share,
      suppliers, email, webhook, changed_at)
    values (${user.subject}, ${user.name}, ${user.organisations}::text[], ${toDateUtc(signedInAt)},
      ${kinds}::text[], ${failingShare}, ${suppliers}::text[], ${email},
      ${webhook === null ? null : Redacted.value(webhook)}, ${toDateUtc(at)})
    on conflict on constraint alert_settings_pkey do update
    set name = excluded.name, organisations = excluded.organisations,
      signed_in_at = excluded.signed_in_at, kinds = excluded.kinds,
      failing_share = excluded.failing_share,
      suppliers = excluded.suppliers, email = excluded.email, webhook = excluded.webhook,
      changed_at = excluded.changed_at`
  yield* sql`
    delete from alert_deliveries
    where subject = ${user.subject} and claimed_at is null and ended_at is null`
  for (const organisation of user.organisations ?? [null]) {
    yield* recordOperator(sql, { action: "set_alerts", outcome: "set", organisation })
  }
})

const isAny = (sql: Sql, query: Statement.Fragment) =>
  Effect.map(sql`${query}`, (rows) => rows.length > 0)

/** A turn that began in the future does not count: the clock was set back. */
const isOver = (
  sql: Sql,
  column: string,
  at: DateTime.Utc,
  pause: Parameters<Port["begin"]>[0]["pause"]
) => sql`
  (${sql.literal(column)} <= ${toDateUtc(DateTime.subtractDuration(at, pause))}
    or ${sql.literal(column)} >= ${toDateUtc(DateTime.addDuration(at, pause))})`

const takeTest = (sql: Sql, { at, pause, subject }: Parameters<Port["takeTest"]>[0]) =>
  isAny(
    sql,
    sql`
      update alert_settings set tested_at = ${toDateUtc(at)}
      where subject = ${subject} and ${isOver(sql, "tested_at", at, pause)} returning subject`
  )

const begin = (sql: Sql, { at, pause }: Parameters<Port["begin"]>[0]) =>
  isAny(
    sql,
    sql`
      update alert_turns set begun_at = ${toDateUtc(at)}
      where ${isOver(sql, "begun_at", at, pause)} returning is_only`
  )

const shareRows = rowsOf(Schema.Struct({ share: Schema.NullOr(Schema.Int) }))

const shares = (sql: Sql) =>
  shareRows(sql`
    select distinct case when 'failing' = any(kinds) then failing_share end::int as share
    from alert_settings
    where kinds <> '{}' and (email is not null or webhook is not null)`).pipe(
    Effect.map((rows) =>
      rows.length === 0 ? null : rows.flatMap(({ share }) => (share === null ? [] : [share]))
    )
  )

const certificateRows = rowsOf(
  Schema.Struct({
    id: CertificateId,
    supplier: SupplierCode,
    cohort: Schema.NullOr(Schema.String),
    endedAt: Instant,
    accounts: Schema.Int,
    expected: Schema.NullOr(Schema.Int)
  })
)

const differingCertificates = (
  sql: Sql,
  { since, suppliers }: Parameters<Port["differingCertificates"]>[0]
) => {
  const organisations: ReadonlyArray<OrganisationName> = [
    ...new Set(suppliers.map(({ organisation }) => organisation))
  ]
  return certificateRows(sql`
    select id, supplier, cohort, ended_at as "endedAt",
      (content ->> 'tree_size')::int as accounts,
      (content -> 'control_totals' ->> 'accounts')::int as expected
    from certificates
    where organisation = any(${organisations}::text[]) and ended_at > ${toDateUtc(since)}
      and supplier = any(${suppliers.map(({ code }) => code)}::text[]) and status = 'ISSUED'
      and content -> 'control_totals' ->> 'matches' = 'false'`)
}

const alteredRows = rowsOf(Schema.Struct({ supplier: SupplierCode, accounts: Schema.Int }))

const alteredAccounts = (sql: Sql, { limit, suppliers }: Parameters<Port["alteredAccounts"]>[0]) =>
  alteredRows(sql`
    select wanted.supplier, count(distinct subject)::int as accounts
    from unnest(${suppliers}::text[]) as wanted (supplier) cross join lateral (
      select subject from check_differences
      where supplier = wanted.supplier and kind in ('entry', 'payload_hash') limit ${limit}
    ) as found
    group by 1`)

export const layer: Layer.Layer<Alerts, never, Database> = Layer.effect(
  Alerts,
  Effect.map(Database, ({ run, sql }) =>
    Alerts.of({
      read: (subject) => run(read(sql, subject)),
      save: (command) => run(sql.withTransaction(save(sql, command))),
      takeTest: (command) => run(takeTest(sql, command)),
      told: (subject, limit) => run(Deliveries.told(sql, subject, limit)),
      begin: (turn) => run(begin(sql, turn)),
      shares: run(shares(sql)),
      differingCertificates: (query) => run(differingCertificates(sql, query)),
      alteredAccounts: (query) => run(alteredAccounts(sql, query)),
      raise: (command) => run(sql.withTransaction(Deliveries.raise(sql, command))),
      claim: (at) => run(Deliveries.claim(sql, at)),
      conclude: (command) => run(Deliveries.conclude(sql, command))
    })
  )
)
