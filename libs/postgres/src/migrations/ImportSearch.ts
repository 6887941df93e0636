/**
 * Searches the imports of a supplier. Each statement reads a bounded part of an index, and one
 * request runs few of them, so that it takes no longer with a million imports.
 */
import { Effect, Layer, Option, Schema, Stream } from "effect"
import type { Statement } from "effect/sql"
import { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { DetailedState } from "@data-import/domain/imports/ImportDetails"
import type { ImportListKind } from "@data-import/domain/imports/ImportProcesses"
import { AttemptId, type ImportKey, PayloadHash } from "@data-import/domain/imports/ImportProcess"
import {
  type CountedImports,
  errorsSampled,
  type FoundImport,
  type FoundPage,
  ImportSearch,
  type MoneyPart
} from "@data-import/domain/migrations/ImportSearch"
import { Database, isStorable, rowsOf } from "../connection/Database.ts"
import { numeric } from "../tables/Column.ts"
import { AttemptError } from "../tables/AttemptError.ts"
import { isStorableKey } from "../tables/ImportRow.ts"
import { balances } from "./AccountBalances.ts"
import { wave } from "./Waves.ts"
import { failures, refusals } from "./WholeFailures.ts"
import { startOf } from "../imports/ImportList.ts"
import {
  foundInPart,
  hasFailed,
  partByPart,
  selectedBy,
  sourceOf,
  stateOf
} from "../imports/ImportSource.ts"
import { isPending } from "../audit/ChangeEntries.ts"

type Sql = Database["Service"]["sql"]
type PageQuery = Parameters<ImportSearch["Service"]["page"]>[0]
type CountQuery = Parameters<ImportSearch["Service"]["count"]>[0]
type FailedQuery = Parameters<ImportSearch["Service"]["failed"]>[0]

const noImports: CountedImports = { accounts: 0, failedByDay: { accounts: 0, codes: [] } }

/** How many imports a statement looks at. */
const partSize = 2_000

/**
 * The maximum number of statements for a page. Reading the latest attempt or ledgers costs twice as
 * much.
 */
const partsOf = ({ attr, code, ledger, money }: PageQuery["filter"]): number =>
  [attr, code, ledger, money].every((condition) => condition === undefined) ? 8 : 4

const Instant = Schema.DateTimeUtcFromDate

const pageRows = rowsOf(
  Schema.Struct({
    scanned: Schema.Int,
    last: Schema.NullOr(Schema.String),
    number: Schema.NullOr(ExternalAccountNumber),
    accountNumber: Schema.NullOr(AccountNumber),
    createdAt: Schema.NullOr(Instant),
    balance: Schema.NullOr(numeric.schema),
    state: Schema.NullOr(DetailedState),
    cohort: Schema.NullOr(Schema.String),
    stagedAt: Schema.NullOr(Instant),
    failure: Schema.NullOr(
      Schema.Struct({ code: Schema.String, error: Schema.NullOr(AttemptError) })
    )
  })
)

/** Compares paths in the form that `withoutIndexes` makes. */
const isAt = (sql: Sql, attr: string): Statement.Fragment => sql`
  regexp_replace(error ->> 'attr', '(^|(?<=\\.))[0-9]+(?=\\.|$)', '*', 'g') = ${attr}`

const latestFailure = (sql: Sql, { attr, code }: PageQuery["filter"]) => sql`(
  select jsonb_build_object('code', coalesce(outcome, 'lease_expired'), 'error', coalesce(
    (
      select error from jsonb_array_elements(errors) with ordinality as each (error, place)
      where true ${code === undefined ? sql`` : sql`and error ->> 'code' = ${code}`}
        ${attr === undefined ? sql`` : sql`and ${isAt(sql, attr)}`}
      order by place limit 1
    ),
    errors -> 0))
  from import_attempts
  where import_id = present.id and not dry_run order by sequence desc limit 1)`

const hasPlace = (sql: Sql, attr: string): Statement.Fragment => sql`
  exists (
    select from (
      select errors from import_attempts where import_id = present.id and not dry_run
      order by sequence desc limit 1
    ) as latest, jsonb_array_elements(errors) as error
    where ${isAt(sql, attr)})`

/** Conditions on the amounts of an account, which has the id of its import. */
const moneyConditions: Readonly<Record<MoneyPart, (sql: Sql) => Statement.Fragment>> = {
  balance: (sql) => sql``,
  without_ledger: (sql) => sql`
    and not exists (select from ledgers where account_id = present.account_id)`,
  added: (sql) => sql`
    and exists (
      select from transactions where account_id = present.account_id and origin = 'post_import')`
}

const hasMoney = (sql: Sql, { ledger, money }: PageQuery["filter"]): Statement.Fragment => sql`
  ${money === undefined ? sql`` : moneyConditions[money](sql)}
  ${
    ledger === undefined
      ? sql``
      : sql`and exists (
          select from ledgers where account_id = present.account_id and ledger_code = ${ledger})`
  }`

const conditions = (sql: Sql, { at, filter }: Pick<PageQuery, "at" | "filter">) => {
  const { attr, search } = filter
  return sql`${selectedBy(sql, filter, at)}
    ${search === undefined ? sql`` : sql`and starts_with(external_account_number, ${search})`}
    ${attr === undefined ? sql`` : sql`and ${hasFailed(sql, at)} and ${hasPlace(sql, attr)}`}
    ${hasMoney(sql, filter)}`
}

/** The imports that a part looks at. */
const sourceFor = (
  sql: Sql,
  { filter, supplier }: Pick<PageQuery, "filter" | "supplier">,
  after: string,
  of: ImportListKind = "all"
) => {
  const { attr, code, corrected, ledger, money, move, numbers, state } = filter
  const isOfFailed = [attr, code, corrected].some((each) => each !== undefined)
  if (move !== undefined) {
    return sql`
      select id, external_account_number from moved_imports
      join import_processes on id = import_id
      where move = ${move}::uuid and supplier = ${supplier}
        and external_account_number > ${after}
      order by external_account_number limit ${partSize}`
  }
  if (numbers !== undefined) {
    return sql`
      select id, external_account_number from import_processes
      where supplier = ${supplier} and external_account_number > ${after}
        and external_account_number = any(${numbers}::text[])
      order by external_account_number limit ${partSize}`
  }
  const source = {
    ...(state !== undefined && { state }),
    ...(isOfFailed && { failed: true })
  }
  const kind = ledger === undefined && money === undefined ? of : "imported"
  return sourceOf(sql, source, { supplier, kind, after, size: partSize })
}

/** The columns that are readable for a service without access to payloads. */
const part = (sql: Sql, query: PageQuery, after: string, limit: number) => {
  const { at, filter } = query
  return pageRows(sql`
    with part(id, place) as materialized (
      ${sourceFor(sql, query, after)}
    ),
    found as (
      select external_account_number as number, account_number as "accountNumber",
        account_created_at as "createdAt", case when account_number is not null then (
          select balance::text from accounts where id = present.account_id) end as balance,
        ${stateOf(sql, at)} as state, cohort,
        staged_at as "stagedAt",
        case when ${stateOf(sql, at)} = 'FAILED' then ${latestFailure(sql, filter)} end as failure
      from part cross join lateral (
        select id, external_account_number, skipped, lease_attempt, lease_expires_at, lease_dry_run,
          account_id, account_number, account_created_at, staged_at, stagings, failed_staging,
          cohort, erased_at
        from import_processes where id = part.id offset 0
      ) as present
      where ${conditions(sql, query)}
      order by part.place limit ${limit}
    )
    ${sql.literal(foundInPart)}`)
}

type Row = Effect.Success<ReturnType<typeof part>>[number]

const foundOf = (row: Row): ReadonlyArray<FoundImport> => {
  const { accountNumber, balance, cohort, createdAt, failure, number, stagedAt, state } = row
  if (number === null || state === null || stagedAt === null) return []
  const account =
    accountNumber === null || createdAt === null || balance === null
      ? null
      : { number: accountNumber, createdAt, balance }
  return [{ number, account, state, cohort, stagedAt, failure }]
}

/** Compares in the order of the index, which is that of UTF-8 bytes. */
const isAfter = (one: string, other: string): boolean =>
  Buffer.compare(Buffer.from(one), Buffer.from(other)) > 0

const firstSurrogate = 0xd800
const lastSurrogate = 0xdfff

/** A text that sorts before all that begin with `search`, and after almost all smaller ones. */
const before = (search: string): string => {
  const points = Array.from(search)
  const last = points.pop()?.codePointAt(0) ?? 0
  const previous = last - 1 === lastSurrogate ? firstSurrogate - 1 : last - 1
  // Numbers have no control characters.
  return previous < 0x20
    ? points.join("")
    : `${points.join("")}${String.fromCodePoint(previous)}\u{10ffff}`
}

const page = Effect.fnUntraced(function* ({ run, sql }: Database["Service"], query: PageQuery) {
  const { limit } = query
  const search = query.filter.search ?? ""
  const imports: Array<FoundImport> = []
  const from = startOf(query.after)
  let after = search === "" || isAfter(from, search) ? from : before(search)
  for (let parts = 0; parts < partsOf(query.filter); parts++) {
    // Reads one more than the page has, to know whether there are more.
    const rows = yield* run(part(sql, query, after, limit - imports.length + 1))
    imports.push(...rows.flatMap(foundOf))
    if (imports.length > limit) {
      const shown = imports.slice(0, limit)
      return { imports: shown, next: shown.at(-1)?.number ?? null } satisfies FoundPage
    }
    const { last = null, scanned = 0 } = rows[0] ?? {}
    const isBehind = last !== null && !last.startsWith(search) && isAfter(last, search)
    if (last === null || scanned < partSize || isBehind) return { imports, next: null }
    after = last
  }
  return { imports, next: after } satisfies FoundPage
})

const countRows = rowsOf(
  Schema.Struct({
    scanned: Schema.Int,
    last: Schema.NullOr(Schema.String),
    accounts: Schema.Int,
    byDay: Schema.Int,
    codes: Schema.Array(Schema.String)
  })
)

/** The codes of the latest attempt of `present`, if its errors all depend on another day. */
const codesOfDay = (sql: Sql, { at, today }: CountQuery) => sql`
  select array_agg(error ->> 'code') as codes
  from (
    select errors from import_attempts where import_id = present.id and not dry_run
    order by sequence desc limit 1
  ) as latest, jsonb_array_elements(errors) as error
  where ${stateOf(sql, at)} = 'FAILED'
  having bool_and(coalesce(error #>> '{parameters,business_day}' <> ${today}, false))`

const countPart = (sql: Sql, query: CountQuery, after: string) =>
  countRows(sql`
    with part(id, place) as materialized (${sourceFor(sql, query, after, "pending")}),
    found as materialized (
      select codes from part cross join lateral (
        select * from import_processes where id = part.id offset 0
      ) as present left join lateral (${codesOfDay(sql, query)}) as of_day on true
      where ${isPending(sql, query.at)} and ${conditions(sql, query)}
    )
    select (select count(*)::integer from part) as scanned, (select max(place) from part) as last,
      count(*)::integer as accounts, count(codes)::integer as "byDay",
      array(select distinct unnest(codes) from found order by 1) as codes
    from found`)

const count = ({ run, sql }: Database["Service"], query: CountQuery) =>
  Stream.runFold(
    partByPart(partSize, (after) => run(countPart(sql, query, after))),
    (): CountedImports => noImports,
    ({ accounts, failedByDay }, part): CountedImports => ({
      accounts: accounts + part.accounts,
      failedByDay: {
        accounts: failedByDay.accounts + part.byDay,
        codes: [...new Set([...failedByDay.codes, ...part.codes])]
      }
    })
  )

const failedRows = rowsOf(
  Schema.Struct({
    number: ExternalAccountNumber,
    outcome: Schema.String,
    errors: Schema.Array(AttemptError),
    hasMore: Schema.Boolean
  })
)

const failed = (sql: Sql, { cohort, ofCodes, supplier }: FailedQuery) =>
  failedRows(sql`
    with sampled as materialized (
      select distinct import_id
      from unnest(${ofCodes.map(({ code }) => code)}::text[],
        ${ofCodes.map(({ limit }) => limit)}::int[]) as wanted (code, at_most)
      cross join lateral (
        select import_id from import_failures
        where supplier = ${supplier} and code = wanted.code
          ${cohort === null ? sql`` : sql`and cohort = ${cohort}`}
        limit wanted.at_most
      ) as failure
    )
    select external_account_number as number, coalesce(outcome, 'lease_expired') as outcome,
      jsonb_path_query_array(errors, ${`$[0 to ${errorsSampled - 1}]`}::jsonpath) as errors,
      jsonb_array_length(errors) > ${errorsSampled} as "hasMore"
    from sampled cross join lateral (
      select id, external_account_number from import_processes
      where id = import_id and (lease_attempt is null or lease_dry_run) offset 0
    ) as present cross join lateral (
      select outcome, errors from import_attempts where import_id = present.id and not dry_run
      order by sequence desc limit 1
    ) as latest
    order by external_account_number`)

const stagedRows = rowsOf(Schema.Struct({ payload: Schema.NullOr(Schema.String) }))

const staged = (sql: Sql, key: ImportKey) =>
  stagedRows(sql`
    select payload::text as payload from import_processes
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}`).pipe(
    Effect.map(([row]) => Option.fromNullishOr(row?.payload))
  )

const judgementRows = rowsOf(Schema.Struct({ id: AttemptId, hash: PayloadHash, by: Schema.String }))

const judgements = (sql: Sql, key: ImportKey, attempts: number) =>
  judgementRows(sql`
    select id, encode(payload_hash, 'hex') as hash, judged_by as by from (
      select id, payload_hash, judged_by from import_attempts
      where import_id = (
        select id from import_processes where supplier = ${key.import_supplier}
          and external_account_number = ${key.external_account_number})
      order by sequence desc limit ${attempts}
    ) as latest where payload_hash is not null and judged_by is not null`).pipe(
    Effect.map((rows) => new Map(rows.map(({ id, ...judgement }) => [id, judgement])))
  )

const isStorableFilter = (filter: object): boolean =>
  Object.values(filter).every((text) => isStorable(String(text)))

export const layer: Layer.Layer<ImportSearch, never, Database> = Layer.effect(
  ImportSearch,
  Effect.map(Database, (database) => {
    const { run, sql } = database
    return ImportSearch.of({
      page: (query) =>
        isStorableFilter(query.filter) && isStorable(query.after ?? "")
          ? page(database, query)
          : Effect.succeed({ imports: [], next: null }),
      count: (query) =>
        isStorableFilter(query.filter) ? count(database, query) : Effect.succeed(noImports),
      failed: (query) => run(failed(sql, query)),
      balances: (query) =>
        isStorable(query.supplier) && isStorable(query.cohort ?? "")
          ? balances(database, query)
          : Stream.empty,
      failures: (query) =>
        isStorable(query.supplier) && isStorable(query.cohort ?? "")
          ? failures(database, query)
          : Stream.empty,
      refusals: (query) =>
        isStorable(query.supplier) && isStorable(query.cohort ?? "")
          ? refusals(database, query)
          : Stream.empty,
      wave: (query) => (isStorable(query.cohort ?? "") ? wave(database, query) : Stream.empty),
      judgements: (key, attempts) =>
        isStorableKey(key) ? run(judgements(sql, key, attempts)) : Effect.succeed(new Map()),
      staged: (key) => (isStorableKey(key) ? run(staged(sql, key)) : Effect.succeedNone)
    })
  })
)
