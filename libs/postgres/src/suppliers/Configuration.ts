/**
 * What the operator configures: organisations, suppliers, teams and code lists. Names sort by code
 * points.
 */
import { DateTime, Effect, Layer, Option, type Result, Schema } from "effect"
import { type CodeLists, OpenCodeList } from "@data-import/domain/schema/CodeLists"
import {
  creationOutcome,
  modeOf,
  type Organisation,
  OrganisationName
} from "@data-import/domain/suppliers/Organisation"
import { TimeZone } from "@data-import/domain/suppliers/BusinessDay"
import {
  AlreadyExists,
  DocumentRootTaken,
  DoesNotExist,
  Configuration
} from "@data-import/domain/suppliers/Configuration"
import type { OperatorAction } from "@data-import/domain/audit/AuditLog"
import {
  modeOfSupplier,
  overlappingRoot,
  settingsOutcome,
  type Supplier,
  SupplierCode,
  type SupplierSettings,
  SupplierStatus
} from "@data-import/domain/suppliers/Supplier"
import { recordOperator } from "../audit/ChangeEntries.ts"
import { Database, isStorable, rowsOf } from "../connection/Database.ts"
import { setStatus } from "../migrations/MigrationRecords.ts"
import { columnsOf } from "../tables/Selection.ts"

type Sql = Database["Service"]["sql"]

const OrganisationRow = Schema.Struct({
  name: OrganisationName,
  createdAt: Schema.DateTimeUtcFromDate,
  testOf: Schema.NullOr(OrganisationName)
})

const organisationColumns = (sql: Sql) => sql.literal(columnsOf(OrganisationRow.fields))

const organisationRows = rowsOf(OrganisationRow)

const nameRows = rowsOf(Schema.Struct({ name: Schema.String }))

const findOrganisation = (sql: Sql, name: OrganisationName) =>
  organisationRows(sql`
    select ${organisationColumns(sql)} from organisations where name = ${name}`).pipe(
    Effect.map(([row]) => Option.fromUndefinedOr(row))
  )

/** Fails if there is no live organisation of this name, or if it has a test organisation. */
const refuseTestOf = Effect.fnUntraced(function* (sql: Sql, live: OrganisationName) {
  const found = yield* findOrganisation(sql, live)
  if (!Option.exists(found, (organisation) => modeOf(organisation) === "live")) {
    return yield* new DoesNotExist({ what: "organisation", name: live })
  }
  const [present] = yield* nameRows(sql`select name from organisations where test_of = ${live}`)
  if (present !== undefined) return yield* new AlreadyExists({ what: "organisation", ...present })
})

const createOrganisation = Effect.fnUntraced(function* (sql: Sql, organisation: Organisation) {
  const { createdAt, name, testOf } = organisation
  if (testOf !== null) yield* refuseTestOf(sql, testOf)
  const rows = yield* nameRows(sql`
    insert into organisations (name, created_at, test_of)
    values (${name}, ${DateTime.toDateUtc(createdAt)}, ${testOf})
    on conflict do nothing returning name`)
  if (rows.length === 0) return yield* new AlreadyExists({ what: "organisation", name })
  const outcome = creationOutcome(organisation)
  yield* recordOperator(sql, { action: "create_organisation", outcome, organisation: name })
  return organisation
})

const SupplierRow = Schema.Struct({
  code: SupplierCode,
  organisation: OrganisationName,
  status: SupplierStatus,
  documentRoot: Schema.String,
  documentCheck: Schema.Boolean,
  customerEmails: Schema.Boolean,
  concurrencyLimit: Schema.NullOr(Schema.Int),
  timeZone: TimeZone,
  revertWindow: Schema.Int,
  fourEyes: Schema.Boolean
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

const recordSupplier = (
  sql: Sql,
  { code, organisation }: Supplier,
  action: OperatorAction,
  outcome: string
) => {
  const key = { import_supplier: code, external_account_number: null }
  return recordOperator(sql, { action, outcome, organisation, key })
}

const createdSupplierRows = rowsOf(
  Schema.Struct({ organisation_exists: Schema.Boolean, created: Schema.Boolean })
)

const createSupplier = Effect.fnUntraced(function* (sql: Sql, supplier: Supplier) {
  const { code, organisation } = supplier
  const isTest = modeOfSupplier(code) === "test"
  yield* lockDocumentRoots(sql)
  const [answer] = yield* createdSupplierRows(sql`
    with created as (
      insert into suppliers (code, organisation, status, document_root, document_check,
        customer_emails, concurrency_limit, time_zone, revert_window, four_eyes)
      select ${code}, name, ${supplier.status}, ${supplier.documentRoot},
        ${supplier.documentCheck}, ${supplier.customerEmails},
        ${supplier.concurrencyLimit}::integer, ${supplier.timeZone}, ${supplier.revertWindow},
        ${supplier.fourEyes}
      from organisations where name = ${organisation} and (test_of is not null) = ${isTest}
      on conflict do nothing returning code
    )
    select exists (
        select from organisations where name = ${organisation} and (test_of is not null) = ${isTest}
      ) as organisation_exists,
      exists (select from created) as created`)
  if (answer?.created === true) {
    yield* refuseTakenRoot(sql, supplier)
    return yield* recordSupplier(sql, supplier, "create_supplier", "created")
  }
  return yield* answer?.organisation_exists === true
    ? new AlreadyExists({ what: "supplier", name: code })
    : new DoesNotExist({ what: "organisation", name: organisation })
})

const configureSupplier = Effect.fnUntraced(function* (
  sql: Sql,
  code: SupplierCode,
  settings: Partial<SupplierSettings>
) {
  const { concurrencyLimit, customerEmails, documentCheck, documentRoot } = settings
  const { fourEyes, revertWindow, timeZone } = settings
  if (documentRoot !== undefined) yield* lockDocumentRoots(sql)
  const [configured] = yield* supplierRows(sql`
    update suppliers set
      document_root = coalesce(${documentRoot ?? null}, document_root),
      document_check = coalesce(${documentCheck ?? null}, document_check),
      customer_emails = coalesce(${customerEmails ?? null}, customer_emails),
      concurrency_limit = case when ${concurrencyLimit === undefined} then concurrency_limit
        else ${concurrencyLimit ?? null}::integer end,
      time_zone = coalesce(${timeZone ?? null}, time_zone),
      revert_window = coalesce(${revertWindow ?? null}::integer, revert_window),
      four_eyes = coalesce(${fourEyes ?? null}, four_eyes)
    where code = ${code} returning ${supplierColumns(sql)}`)
  if (configured === undefined) return yield* new DoesNotExist({ what: "supplier", name: code })
  if (documentRoot !== undefined) yield* refuseTakenRoot(sql, configured)
  yield* recordSupplier(sql, configured, "configure_supplier", settingsOutcome(settings))
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
  yield* setStatus(sql, present.value, status)
  return { ...present.value, status }
})

const createTeam = Effect.fnUntraced(function* (sql: Sql, name: string) {
  const rows = yield* nameRows(sql`
    insert into operations_teams (name) values (${name})
    on conflict do nothing returning name`)
  if (rows.length === 0) return yield* new AlreadyExists({ what: "team", name })
  const outcome = `created ${name}`
  yield* recordOperator(sql, { action: "create_team", outcome, organisation: null })
})

const addCode = Effect.fnUntraced(function* (sql: Sql, list: OpenCodeList, value: string) {
  const rows = yield* nameRows(sql`
    insert into choices (list, value) values (${list}, ${value})
    on conflict do nothing returning value as name`)
  const outcome = rows.length > 0 ? `added ${list} ${value}` : "unchanged"
  yield* recordOperator(sql, { action: "add_choice", outcome, organisation: null })
})

const CodeListRow = Schema.Struct({ list: OpenCodeList, values: Schema.Array(Schema.String) })

/** The lookups of all concurrent requests. Null if nothing was found. */
const lookedUpRows = rowsOf(
  Schema.Struct({
    suppliers: Schema.NullOr(Schema.Array(SupplierRow)),
    teams: Schema.NullOr(Schema.Array(Schema.String)),
    codeLists: Schema.NullOr(Schema.Array(CodeListRow))
  })
)

/** What one request looks up at a time. */
type LookUp =
  | { readonly _tag: "Supplier"; readonly code: SupplierCode }
  | { readonly _tag: "Team"; readonly name: string }
  | { readonly _tag: "CodeLists" }

/** Names only the tables that are needed, because a service may not be allowed to read others. */
const lookedUp = (sql: Sql, asked: ReadonlyArray<LookUp>) => {
  const codes = asked.flatMap((one) => (one._tag === "Supplier" ? [one.code] : []))
  const teams = asked.flatMap((one) => (one._tag === "Team" ? [one.name] : []))
  const suppliersFound = sql`(select json_agg(found) from (
    select ${supplierColumns(sql)} from suppliers where code = any(${codes}::text[])) as found)`
  const teamsFound = sql`(
    select json_agg(name) from operations_teams where name = any(${teams}::text[]))`
  const listsFound = sql`(select json_agg(found) from (
    select list, array_agg(value order by added) as values from choices group by list) as found)`
  const unasked = sql`null::json`
  return lookedUpRows(sql`
    select ${codes.length > 0 ? suppliersFound : unasked} as suppliers,
      ${teams.length > 0 ? teamsFound : unasked} as teams,
      ${asked.some(({ _tag }) => _tag === "CodeLists") ? listsFound : unasked} as "codeLists"`)
}

/** The lookups of every request. Concurrent ones are one statement. */
const lookups = ({ batchedRead, sql }: Database["Service"]) => {
  const lookUp = batchedRead((asked: ReadonlyArray<LookUp>) =>
    Effect.map(lookedUp(sql, asked), ([row]) => {
      const suppliers = new Map(row?.suppliers?.map((supplier) => [supplier.code, supplier]))
      const teams = new Set(row?.teams)
      const lists = row?.codeLists ?? []
      const codeLists: CodeLists = Object.fromEntries(
        lists.map(({ list, values }) => [list, values])
      )
      return asked.map(() => ({ suppliers, teams, codeLists }))
    })
  )
  return {
    supplier: (code: SupplierCode) =>
      Effect.map(lookUp({ _tag: "Supplier", code }), ({ suppliers }) =>
        Option.fromUndefinedOr(suppliers.get(code))
      ),
    hasTeam: (name: string) =>
      Effect.map(lookUp({ _tag: "Team", name }), ({ teams }) => teams.has(name)),
    codeLists: Effect.map(lookUp({ _tag: "CodeLists" }), ({ codeLists }) => codeLists)
  }
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const { run, sql } = database
  const { codeLists, hasTeam, supplier } = lookups(database)
  return Configuration.of({
    createOrganisation: (name, at, testOf = null) =>
      run(sql.withTransaction(createOrganisation(sql, { name, createdAt: at, testOf }))),
    organisation: (name) => run(findOrganisation(sql, name)),
    organisations: run(
      organisationRows(sql`select ${organisationColumns(sql)} from organisations order by name`)
    ),
    createSupplier: (created) => run(sql.withTransaction(createSupplier(sql, created))),
    supplier: (code) => (isStorable(code) ? supplier(code) : Effect.succeedNone),
    suppliers: run(suppliers(sql)),
    changeSupplierStatus: (code, decide) =>
      run(sql.withTransaction(changeSupplierStatus(sql, code, decide))),
    configureSupplier: (code, settings) =>
      run(sql.withTransaction(configureSupplier(sql, code, settings))),
    createTeam: (name) => run(sql.withTransaction(createTeam(sql, name))),
    hasTeam: (name) => (isStorable(name) ? hasTeam(name) : Effect.succeed(false)),
    teams: run(nameRows(sql`select name from operations_teams order by name`)).pipe(
      Effect.map((rows) => rows.map(({ name }) => name))
    ),
    addCode: (list, value) => run(sql.withTransaction(addCode(sql, list, value))),
    codeLists
  })
})

export const layer: Layer.Layer<Configuration, never, Database> = Layer.effect(Configuration, make)
