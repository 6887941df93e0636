/**
 * Fills the running system with forty migrations in different states of trouble, so that the board
 * has something to show: `npm run demo -- --board`. Accounts come by batches, as from a supplier;
 * suppliers, plans and past days are put into the database.
 */
import * as Client from "@data-import/client/effect"
import { issueLink } from "@data-import/domain/access/BoardAccess"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { domesticPayload } from "@data-import/domain/testing/samples"
import type { Demo } from "@data-import/local/DemoFile"
import { borrow } from "@data-import/operator/LocalDatabase"
import { Database } from "@data-import/postgres/connection/Database"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import { supplierOf } from "@data-import/testbed/Tenants"
import { Console, Duration, Effect, Redacted, Schedule, Stream } from "effect"
import { FetchHttpClient } from "effect/http"

interface Trouble {
  /** How many migrations have it. */
  readonly migrations: number
  /** How many lines are imported, and how many are only staged. */
  readonly imported: number
  readonly staged: number
  /** One of this many lines is faulty; 0 for none. */
  readonly faultEach: number
  /** The batch is paused after this many failures. */
  readonly maxFailures: number | null
  /** How many accounts should have been imported by yesterday. */
  readonly planned: number | null
  /** How long ago the last account was imported; null without past days. */
  readonly endedHoursAgo: number | null
}

const plain = { faultEach: 0, maxFailures: null, planned: null, endedHoursAgo: 0 }

const troubles: Readonly<Record<string, Trouble>> = {
  stuck: { ...plain, migrations: 2, imported: 300, staged: 0, faultEach: 4, maxFailures: 5 },
  failing: { ...plain, migrations: 5, imported: 300, staged: 200, faultEach: 3, planned: 40 },
  slow: { ...plain, migrations: 5, imported: 100, staged: 400, planned: 300 },
  waiting: { ...plain, migrations: 5, imported: 0, staged: 250, endedHoursAgo: null },
  paused: { ...plain, migrations: 4, imported: 150, staged: 150 },
  running: { ...plain, migrations: 10, imported: 200, staged: 200, planned: 40 },
  done: { ...plain, migrations: 8, imported: 250, staged: 0, endedHoursAgo: 26 },
  empty: { ...plain, migrations: 1, imported: 0, staged: 0, endedHoursAgo: null }
}

interface Migration extends Trouble {
  readonly code: string
  readonly trouble: string
}

const places = "AARHUS BERGEN CORK DELFT ESBJERG FLORO GENT HAMAR KOLDING LAHTI".split(" ")
const kinds = ["ENERGY", "WATER", "TELECOM", "HEAT"]

const portfolio: ReadonlyArray<Migration> = Object.entries(troubles)
  .flatMap(([trouble, shape]) =>
    Array.from({ length: shape.migrations }, () => ({ ...shape, trouble }))
  )
  .map((each, index) => ({
    ...each,
    code: `${places[index % places.length]}_${kinds[Math.floor(index / places.length)]}`
  }))

const waves = ["wave-1", "wave-2", null]

/** Two of three lines have a cohort; faulty ones have one of three faults. */
const lineOf = (position: number, faultEach: number): object => {
  const { import_supplier: _, notes: __, statements: ___, ...payload } = domesticPayload()
  const [first, ...others] = payload.customers
  const faults = [
    { customers: [{ ...first, landline: "0045 33" }, ...others] },
    { customers: [{ ...first, date_of_birth: "1981-02-30" }, ...others] },
    { favourite_colour: "blue" }
  ]
  const isFaulty = faultEach > 0 && position % faultEach === 0
  const cohort = waves[position % waves.length]
  return {
    payload: {
      ...payload,
      external_account_number: `A-${String(position).padStart(6, "0")}`,
      ...(isFaulty && faults[(position / faultEach) % faults.length])
    },
    ...(cohort !== null && { cohort })
  }
}

/** Sends a batch, and waits until it has ended or is paused. */
const sendBatch = Effect.fnUntraced(function* (
  { batches }: Client.Client,
  { code, faultEach, maxFailures }: Migration,
  [from, to]: readonly [number, number],
  team: string | null
) {
  if (from === to) return
  const payload = {
    import_supplier: code,
    operation: team === null ? ("STAGE" as const) : ("IMPORT" as const),
    ...(team !== null && { operations_team_name: team }),
    ...(maxFailures !== null && { max_failures: maxFailures })
  }
  const faults = team === null ? 0 : faultEach
  const lines = Array.from({ length: to - from }, (_, index) => lineOf(from + index, faults))
  const { batch_id } = yield* batches.send(payload, Stream.fromIterable(lines))
  yield* batches.follow(batch_id).pipe(
    Stream.takeUntil(({ state }) => state === "PAUSED"),
    Stream.runDrain
  )
})

const fill = Effect.fnUntraced(function* (client: Client.Client, team: string, it: Migration) {
  const { code, imported, staged, trouble } = it
  yield* sendBatch(client, it, [0, imported], team)
  yield* sendBatch(client, it, [imported, imported + staged], null)
  yield* Console.log(`${code}: ${trouble}`)
})

/** The past days of a migration: its counts grow from zero to their present values. */
const hours = 96

/**
 * Writes plans, statuses and past days: a system that is an hour old has no history to draw, and no
 * rate to forecast from. The present hour follows from the stored data. Counts lag behind, so it
 * waits for them before.
 */
const addPast = Effect.gen(function* () {
  const { sql } = yield* Database
  yield* Effect.repeat(sql`select from import_differences limit 1`, {
    schedule: Schedule.spaced("200 millis"),
    while: ({ length }) => length > 0
  })
  for (const { code, endedHoursAgo: ended, imported, planned, staged, trouble } of portfolio) {
    if (planned !== null) {
      const end = imported + staged
      yield* sql`
        insert into migration_plans (supplier, set_at, points)
        values (${code}, now(), json_build_array(
          json_build_object('on', current_date - 8, 'accounts', 0),
          json_build_object('on', current_date - 1, 'accounts', ${planned}::int),
          json_build_object('on', current_date + 7, 'accounts', ${end}::int)))
        on conflict do nothing`
    }
    if (trouble === "paused") {
      yield* sql`update suppliers set status = 'Paused' where code = ${code}`
    }
    if (ended === null) continue
    yield* sql`
      insert into import_history (supplier, cohort, kind, name, hour, count)
      select supplier, cohort, kind, name, date_trunc('hour', now()) - ago * interval '1 hour',
        case when kind = 'state' and name = 'PENDING' then round(count * least(1, 2 * part))
          else round(count * part) end
      from import_totals cross join generate_series(1, ${hours}::int) as ago
      cross join lateral (
        select least(1, (${hours}::float8 - ago) / (${hours} - ${ended}::int)) as part
      ) as course
      where supplier = ${code} and kind in ('state', 'code', 'balance')
      on conflict do nothing`
    yield* sql`
      update import_activity set changed_at = changed_at - ${ended}::int * interval '1 hour',
        imported_at = imported_at - ${ended}::int * interval '1 hour'
      where supplier = ${code}`
  }
})

const organisation = OrganisationName.make("demo")

export const fillBoard = Effect.fnUntraced(function* (demo: Demo) {
  const { url } = yield* borrow
  const statementTimeout = Duration.seconds(60)
  const access = DatabaseAccess.layer({ url, poolSize: 1, statementTimeout })
  const secret = yield* Effect.gen(function* () {
    const setup = yield* Configuration
    for (const { code } of portfolio) {
      yield* Effect.catchTag(
        setup.createSupplier(supplierOf(code, organisation)),
        "AlreadyExists",
        () => Effect.void
      )
    }
    const apiKey = Redacted.make(demo.apiKey)
    const client = yield* Client.make({ baseUrl: demo.baseUrl, apiKey })
    yield* Effect.forEach(portfolio, (each) => fill(client, demo.operationsTeamName, each), {
      concurrency: 3,
      discard: true
    })
    yield* addPast
    return yield* issueLink
  }).pipe(Effect.provide([access, FetchHttpClient.layer]))
  const link = `${demo.baseUrl}/board/sign-in/${secret}/`
  yield* Console.log(
    `\n${portfolio.length} migrations are on the board, and have forecasts within a minute. ` +
      `Open it, once:\n${link}`
  )
}, Effect.scoped)
