/**
 * What the operator configures: organisations, suppliers, teams and code lists. Names sort by code
 * points.
 */
import { DateTime, Effect, Layer, Option, type Result, Schema } from "effect"
import { OpenCodeList } from "@data-import/domain/schema/CodeLists"
import { OrganisationName } from "@data-import/domain/organisation/Organisation"
import { TimeZone } from "@data-import/domain/organisation/BusinessDay"
import {
  AlreadyExists,
  DocumentRootTaken,
  DoesNotExist,
  Configuration
} from "@data-import/domain/ports/Configuration"
import {
  overlappingRoot,
  type Supplier,
  SupplierCode,
  type SupplierSettings,
  SupplierStatus
} from "@data-import/domain/organisation/Supplier"
import { Database, isStorable, rowsOf } from "../connection/Database.ts"
import { columnsOf } from "../tables/Selection.ts"

type Sql = Database["Service"]["sql"]

const OrganisationRow = Schema.Struct({
  name: OrganisationName,
  createdAt: Schema.DateTimeUtcFromDate
})

const organisationRows = rowsOf(OrganisationRow)

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

const SupplierRow = Schema.Struct({
  code: SupplierCode,
  organisation: OrganisationName,
  status: SupplierStatus,
  documentRoot: Schema.String,
  documentCheck: Schema.Boolean,
  customerEmails: Schema.Boolean,
  concurrencyLimit: Schema.NullOr(Schema.Int),
  timeZone: TimeZone
})

const supplierRows = rowsOf(SupplierRow)

const supplierColumns = (sql: Sql) => sql.literal(columnsOf(SupplierRow.fields))

const suppliers = (sql: Sql) =>
  supplierRows(sql`select ${supplierColumns(sql)} from suppliers order by code`)

/**
 * Serialises transactions that set a document root. It is a separate statement, because a statement
 * that waits for a lock does not see what was committed during the wait.
 */
const lockDocumentRoots = (sql: Sql) =>
  sql`select pg_advisory_xact_lock(hashtextextended('document roots', 0))`

/** Fails if the stored document root of the supplier overlaps that of another organisation. */
const refuseTakenRoot = Effect.fnUntraced(function* (sql: Sql, supplier: Supplier) {
  const by = overlappingRoot(supplier, yield* suppliers(sql))
  const { documentRoot } = supplier
  if (by !== undefined) return yield* new DocumentRootTaken({ documentRoot, by })
})

const createdSupplierRows = rowsOf(
  Schema.Struct({ organisation_exists: Schema.Boolean, created: Schema.Boolean })
)

const createSupplier = Effect.fnUntraced(function* (sql: Sql, supplier: Supplier) {
  const { code, organisation } = supplier
  yield* lockDocumentRoots(sql)
  const [answer] = yield* createdSupplierRows(sql`
    with created as (
      insert into suppliers (code, organisation, status, document_root, document_check,
        customer_emails, concurrency_limit, time_zone)
      select ${code}, name, ${supplier.status}, ${supplier.documentRoot},
        ${supplier.documentCheck}, ${supplier.customerEmails},
        ${supplier.concurrencyLimit}::integer, ${supplier.timeZone}
      from organisations where name = ${organisation}
      on conflict do nothing returning code
    )
    select exists (select from organisations where name = ${organisation}) as organisation_exists,
      exists (select from created) as created`)
  if (answer?.created === true) return yield* refuseTakenRoot(sql, supplier)
  return yield* answer?.organisation_exists === true
    ? new AlreadyExists({ what: "supplier", name: code })
    : new DoesNotExist({ what: "organisation", name: organisation })
})

const configureSupplier = Effect.fnUntraced(function* (
  sql: Sql,
  code: SupplierCode,
  settings: Partial<SupplierSettings>
) {
  const { concurrencyLimit, customerEmails, documentCheck, documentRoot, timeZone } = settings
  if (documentRoot !== undefined) yield* lockDocumentRoots(sql)
  const [configured] = yield* supplierRows(sql`
    update suppliers set
      document_root = coalesce(${documentRoot ?? null}, document_root),
      document_check = coalesce(${documentCheck ?? null}, document_check),
      customer_emails = coalesce(${customerEmails ?? null}, customer_emails),
      concurrency_limit = case when ${concurrencyLimit === undefined} then concurrency_limit
        else ${concurrencyLimit ?? null}::integer end,
      time_zone = coalesce(${timeZone ?? null}, time_zone)
    where code = ${code} returning ${supplierColumns(sql)}`)
  if (configured === undefined) return yield* new DoesNotExist({ what: "supplier", name: code })
  if (documentRoot !== undefined) yield* refuseTakenRoot(sql, configured)
  return configured
})

/** A lock mode that does not block the staging of imports of the supplier. */
const lockedSupplier = (sql: Sql, code: SupplierCode) =>
  supplierRows(sql`
    select ${supplierColumns(sql)} from suppliers where code = ${code}
    for no key update`).pipe(Effect.map(([row]) => Option.fromNullishOr(row)))

const changeSupplierStatus = Effect.fnUntraced(function* <E>(
  sql: Sql,
  code: SupplierCode,
  decide: (present: SupplierStatus) => Result.Result<SupplierStatus, E>
) {
  const present = yield* lockedSupplier(sql, code)
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

const codeListRows = rowsOf(
  Schema.Struct({ list: OpenCodeList, values: Schema.Array(Schema.String) })
)

const readCodeLists = (sql: Sql) =>
  codeListRows(sql`
    select list, array_agg(value order by added) as values from choices group by list`).pipe(
    Effect.map((rows) => Object.fromEntries(rows.map(({ list, values }) => [list, values])))
  )

/** The lookups of every request, in batches. */
const batchedReads = ({ batchedRead, sql }: Database["Service"]) => ({
  supplier: batchedRead((codes: ReadonlyArray<SupplierCode>) =>
    supplierRows(sql`
      select ${supplierColumns(sql)} from suppliers where code = any(${codes}::text[])`).pipe(
      Effect.map((rows) => {
        const found = new Map(rows.map((row) => [row.code, row]))
        return codes.map((code) => Option.fromUndefinedOr(found.get(code)))
      })
    )
  ),
  hasTeam: batchedRead((names: ReadonlyArray<string>) =>
    nameRows(sql`select name from operations_teams where name = any(${names}::text[])`).pipe(
      Effect.map((rows) => {
        const found = new Set(rows.map(({ name }) => name))
        return names.map((name) => found.has(name))
      })
    )
  ),
  codeLists: batchedRead((requests: ReadonlyArray<null>) =>
    Effect.map(readCodeLists(sql), (codeLists) => requests.map(() => codeLists))
  )
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const { run, sql } = database
  const { codeLists, hasTeam, supplier } = batchedReads(database)
  return Configuration.of({
    createOrganisation: (name, at) => run(createOrganisation(sql, name, at)),
    organisations: run(
      organisationRows(sql`
        select ${sql.literal(columnsOf(OrganisationRow.fields))}
        from organisations order by name`)
    ),
    createSupplier: (created) => run(sql.withTransaction(createSupplier(sql, created))),
    supplier: (code) => (isStorable(code) ? supplier(code) : Effect.succeedNone),
    suppliers: run(suppliers(sql)),
    changeSupplierStatus: (code, decide) =>
      run(sql.withTransaction(changeSupplierStatus(sql, code, decide))),
    configureSupplier: (code, settings) =>
      run(sql.withTransaction(configureSupplier(sql, code, settings))),
    createTeam: (name) => run(createTeam(sql, name)),
    hasTeam: (name) => (isStorable(name) ? hasTeam(name) : Effect.succeed(false)),
    teams: run(nameRows(sql`select name from operations_teams order by name`)).pipe(
      Effect.map((rows) => rows.map(({ name }) => name))
    ),
    addCode: (list, value) =>
      run(
        Effect.asVoid(sql`
          insert into choices (list, value) values (${list}, ${value}) on conflict do nothing`)
      ),
    codeLists: codeLists(null)
  })
})

export const layer: Layer.Layer<Configuration, never, Database> = Layer.effect(Configuration, make)
