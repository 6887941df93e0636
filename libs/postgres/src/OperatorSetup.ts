/**
 * What the operator sets up: organisations, suppliers, teams and choices. Names sort by code
 * points.
 */
import { DateTime, Effect, Layer, Option, type Result, Schema } from "effect"
import { OpenChoice } from "@data-import/domain/Choices"
import { OrganisationName } from "@data-import/domain/Organisation"
import { AlreadyExists, DoesNotExist, OperatorSetup } from "@data-import/domain/ports/OperatorSetup"
import { type Supplier, SupplierCode, SupplierStatus } from "@data-import/domain/Supplier"
import { Database, isStorable, rowsOf } from "./Database.ts"

type Sql = Database["Service"]["sql"]

const organisationRows = rowsOf(
  Schema.Struct({ name: OrganisationName, createdAt: Schema.DateTimeUtcFromDate })
)

const nameRows = rowsOf(Schema.Struct({ name: Schema.String }))

const createOrganisation = (sql: Sql, name: OrganisationName, at: DateTime.Utc) =>
  nameRows(sql`
    insert into organisations (name, created_at) values (${name}, ${DateTime.toDateUtc(at)})
    on conflict do nothing returning name`).pipe(
    Effect.flatMap((rows) =>
      rows.length > 0
        ? Effect.succeed({ name, createdAt: at })
        : Effect.fail(new AlreadyExists({ what: "organisation", name }))
    )
  )

const createdSupplierRows = rowsOf(
  Schema.Struct({ organisation_exists: Schema.Boolean, created: Schema.Boolean })
)

const createSupplier = Effect.fnUntraced(function* (sql: Sql, supplier: Supplier) {
  const { code, organisation } = supplier
  const [answer] = yield* createdSupplierRows(sql`
    with created as (
      insert into suppliers (code, organisation, status, document_root, document_check,
        customer_emails, concurrency_limit)
      select ${code}, name, ${supplier.status}, ${supplier.documentRoot},
        ${supplier.documentCheck}, ${supplier.customerEmails}, ${supplier.concurrencyLimit}::integer
      from organisations where name = ${organisation}
      on conflict do nothing returning code
    )
    select exists (select from organisations where name = ${organisation}) as organisation_exists,
      exists (select from created) as created`)
  if (answer?.created === true) return
  yield* answer?.organisation_exists === true
    ? new AlreadyExists({ what: "supplier", name: code })
    : new DoesNotExist({ what: "organisation", name: organisation })
})

const supplierRows = rowsOf(
  Schema.Struct({
    code: SupplierCode,
    organisation: OrganisationName,
    status: SupplierStatus,
    documentRoot: Schema.String,
    documentCheck: Schema.Boolean,
    customerEmails: Schema.Boolean,
    concurrencyLimit: Schema.NullOr(Schema.Int)
  })
)

const supplierColumns = (sql: Sql) => sql`
  code, organisation, status, document_root as "documentRoot", document_check as "documentCheck",
  customer_emails as "customerEmails", concurrency_limit as "concurrencyLimit"`

const suppliers = (sql: Sql) =>
  supplierRows(sql`select ${supplierColumns(sql)} from suppliers order by code`)

const supplier = (sql: Sql, code: SupplierCode, locked = false) =>
  supplierRows(sql`
    select ${supplierColumns(sql)} from suppliers where code = ${code}
    ${locked ? sql`for update` : sql``}`).pipe(Effect.map(([row]) => Option.fromNullishOr(row)))

const changeSupplierStatus = Effect.fnUntraced(function* <E>(
  sql: Sql,
  code: SupplierCode,
  decide: (present: SupplierStatus) => Result.Result<SupplierStatus, E>
) {
  const present = yield* supplier(sql, code, true)
  if (Option.isNone(present)) return yield* new DoesNotExist({ what: "supplier", name: code })
  const status = yield* Effect.fromResult(decide(present.value.status))
  yield* sql`update suppliers set status = ${status} where code = ${code}`
  return { ...present.value, status }
})

const createTeam = (sql: Sql, name: string) =>
  nameRows(sql`
    insert into operations_teams (name) values (${name})
    on conflict do nothing returning name`).pipe(
    Effect.flatMap((rows) =>
      rows.length > 0 ? Effect.void : Effect.fail(new AlreadyExists({ what: "team", name }))
    )
  )

const choiceRows = rowsOf(Schema.Struct({ list: OpenChoice, values: Schema.Array(Schema.String) }))

const choices = (sql: Sql) =>
  choiceRows(sql`
    select list, array_agg(value order by added) as values from choices group by list`).pipe(
    Effect.map((rows) => Object.fromEntries(rows.map(({ list, values }) => [list, values])))
  )

export const layer: Layer.Layer<OperatorSetup, never, Database> = Layer.effect(
  OperatorSetup,
  Effect.map(Database, ({ run, sql }) =>
    OperatorSetup.of({
      createOrganisation: (name, at) => run(createOrganisation(sql, name, at)),
      organisations: run(
        organisationRows(sql`
          select name, created_at as "createdAt" from organisations order by name`)
      ),
      createSupplier: (created) => run(createSupplier(sql, created)),
      supplier: (code) =>
        isStorable(code) ? run(supplier(sql, code)) : Effect.succeed(Option.none()),
      suppliers: run(suppliers(sql)),
      changeSupplierStatus: (code, decide) =>
        run(sql.withTransaction(changeSupplierStatus(sql, code, decide))),
      createTeam: (name) => run(createTeam(sql, name)),
      hasTeam: (name) =>
        isStorable(name)
          ? run(nameRows(sql`select name from operations_teams where name = ${name}`)).pipe(
              Effect.map((rows) => rows.length > 0)
            )
          : Effect.succeed(false),
      teams: run(nameRows(sql`select name from operations_teams order by name`)).pipe(
        Effect.map((rows) => rows.map(({ name }) => name))
      ),
      addChoice: (list, value) =>
        run(
          Effect.asVoid(sql`
            insert into choices (list, value) values (${list}, ${value}) on conflict do nothing`)
        ),
      choices: run(choices(sql))
    })
  )
)
