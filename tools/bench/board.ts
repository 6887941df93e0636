/**
 * The cost of the pages of the board: `npm run bench:board` fills 40 suppliers, one of which has
 * half of the imports, and sends the requests of each page through the gateway, as its browser
 * does.
 */
import { Array, Clock, Console, Effect, Schedule } from "effect"
import { Command, Flag } from "effect/cli"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { issueLink } from "@data-import/domain/access/BoardAccess"
import { vacuum } from "@data-import/postgres/testing/databases"
import { runMain } from "@data-import/testbed/CommandLine"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import { team } from "@data-import/testbed/Tenants"
import { median } from "./Comparison.ts"
import { install, type Installation, startServer } from "./Installation.ts"
import { messageOf, positive, publish, short, table } from "./Report.ts"
import { stage } from "./Staging.ts"
import { cpuSeconds, postgresCpuSeconds } from "./Usage.ts"

const suppliers = 40
const prefix = "N"
const cohorts = 20

/** How many imports of each supplier are staged with everything that staging stores. */
const staged = 100

/** Of ten imports four are accounts, and one has failed with one of these codes. */
const codes = ["invalid_email", "invalid_phone_number", "blank", "required", "max_length"]

/** Bypass the audit log and the events, which the pages read by index or from their ends. */
const statements = [
  `insert into import_processes (supplier, external_account_number, payload, staged_at, cohort)
   select $1, '${prefix}-' || lpad(n::text, 9, '0'), '{}', now(), 'wave-' || n % ${cohorts}
   from generate_series($2::integer, $3::integer - 1) as n`,
  `insert into accounts (id, import_id, number, created_at, operations_team, balance, payload)
   select id, id, 'A-' || lpad(upper(to_hex(id)), 8, '0'), now(), '${team}', 12.34, '{}'
   from import_processes where supplier = $1 and id % 10 < 4`,
  `insert into ledgers (account_id, position, ledger_code, ledger_balance)
   select id, 0, 'ELECTRICITY_LEDGER', 12.34
   from import_processes where supplier = $1 and id % 10 < 4`,
  `update import_processes set account_id = id, account_created_at = now(),
     account_number = 'A-' || lpad(upper(to_hex(id)), 8, '0')
   where supplier = $1 and id % 10 < 4`,
  `insert into import_attempts (import_id, id, dry_run, started_at, ended_at, outcome, errors)
   select id, 'bench ' || id, false, now(), now(), 'account_failed_validation', jsonb_build_array(
     jsonb_build_object('attr', 'customers.' || id % 3 || '.email',
       'code', (array['${codes.join("', '")}'])[1 + id % ${codes.length}]))
   from import_processes where supplier = $1 and id % 10 = 9`,
  `update import_processes set failed_staging = stagings where supplier = $1 and id % 10 = 9`
]

/** Entries of all imports, not sealed. */
const audited = `
  insert into audit_log (at, organisation, api_key, request_id, action, outcome,
     import_supplier, external_account_number)
   select staged_at, organisation, 'bench', 'bench', 'stage', 'created', supplier,
     external_account_number
   from import_processes join suppliers on code = supplier where cohort is not null`

/** Counts for each past hour, as a long migration leaves them. */
const history = `
  insert into import_history (supplier, cohort, kind, name, hour, count)
  select supplier, cohort, kind, name, date_trunc('hour', now()) - step * interval '1 hour',
    greatest(0, count - step)
  from import_totals cross join generate_series(1, $2::integer) as step
  where supplier = $1 and kind in ('state', 'code', 'balance') and cohort = ''
  on conflict do nothing`

const filled = [
  ...["import_processes", "import_attempts", "import_failures", "import_history"],
  ...["import_totals", "accounts", "ledgers", "outbox", "audit_log"]
]

/** Returns the codes; the first has half of the imports. */
const fill = Effect.fnUntraced(function* (installation: Installation, size: number) {
  const { freshTenant, query } = installation
  const all = yield* Effect.replicateEffect(freshTenant, suppliers)
  for (const [index, owner] of all.entries()) {
    const to = index === 0 ? Math.ceil(size / 2) : Math.ceil(size / 2 / (suppliers - 1))
    yield* stage(installation, "services", owner, { prefix, from: 0, to: staged })
    const [insertion = "", ...others] = statements
    yield* query(insertion, [owner.supplier, staged, to])
    for (const statement of others) yield* query(statement, [owner.supplier])
    yield* Console.error(`filled ${index + 1} of ${suppliers} suppliers`)
  }
  yield* query(audited)
  yield* Effect.repeat(query("select from import_differences limit 1"), {
    schedule: Schedule.spaced("100 millis"),
    while: ({ length }) => length > 0
  })
  for (const [index, { supplier }] of all.entries()) {
    yield* query(history, [supplier, index === 0 ? 400 * 24 : 14 * 24])
  }
  yield* Effect.orDie(vacuum(installation.url, filled))
  return all.map(({ supplier }) => supplier)
})

/** The requests of each page for this supplier, which should have the most imports. */
const pagesOf = (supplier: string): Readonly<Record<string, ReadonlyArray<string>>> => {
  const root = `migrations/${supplier}/`
  const list = (query: string) => [`${root}imports/?limit=100${query}`]
  return {
    "All migrations": ["session/", "migrations/"],
    Programme: ["session/", "programme/"],
    "Programme as PDF": ["programme.pdf"],
    Waves: ["session/", root, `${root}waves/`],
    "One supplier": [
      ...["session/", "teams/", root, `${root}history/?step=day`, `${root}history/?step=hour`],
      ...[`${root}cohorts/`, `${root}batches/`, `${root}sign-off/`]
    ],
    Problems: ["session/", root, `${root}problems/`],
    "Problems of a cohort": ["session/", root, `${root}problems/?cohort=wave-9`],
    Accounts: list(""),
    "Accounts, failed": list("&state=FAILED"),
    "Accounts by code": list("&state=FAILED&code=max_length"),
    "Accounts by code and path": list("&state=FAILED&code=blank&attr=customers.*.email"),
    "Accounts of a cohort": list("&state=PENDING&cohort=wave-8"),
    "Accounts by number": list(`&search=${prefix}-0000999`),
    "Accounts like none": list("&cohort=none&search=N-"),
    "One account": [`${root}imports/${prefix}-000000050/`],
    Audit: ["audit/"],
    "Audit of an account": [
      `audit/?import_supplier=${supplier}&external_account_number=N-000000050`
    ],
    "Audit of one user": ["audit/?who=board:local"],
    "Summary as CSV": [`${root}summary.csv`]
  }
}

/** Signs a manager in, who sees every migration. Returns the cookie of the session. */
const signIn = Effect.fnUntraced(function* ({ services, url }: Installation) {
  const secret = yield* Effect.provide(issueLink, DatabaseAccess.layerOperator(url))
  const origin = services.gateway.url
  const entered = yield* HttpClient.execute(
    HttpClientRequest.post(`${origin}/board/sign-in/${secret}/`, { headers: { origin } })
  ).pipe(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }))
  return (entered.headers["set-cookie"] ?? "").split(";", 1)[0] ?? ""
})

const milliseconds = Effect.fnUntraced(function* (url: string, cookie: string) {
  const began = yield* Clock.currentTimeNanos
  const answer = yield* HttpClient.get(url, { headers: { cookie } })
  const text = yield* answer.text
  if (answer.status !== 200) return yield* Effect.die(new Error(`${url}: ${answer.status} ${text}`))
  return Number((yield* Clock.currentTimeNanos) - began) / 1e6
})

const rounds = 20

/**
 * Of the service, the gateway and PostgreSQL so far. Other work on the machine does not affect it.
 */
const processorSeconds = ({ server, services }: Installation): number =>
  cpuSeconds(services.board.pid) + cpuSeconds(services.gateway.pid) + postgresCpuSeconds(server.pid)

/** Each page's requests one after the other; the first round warms up. */
const measurePages = Effect.fnUntraced(function* (installation: Installation, supplier: string) {
  const cookie = yield* signIn(installation)
  const root = `${installation.services.gateway.url}/board/api/`
  const rows: Array<ReadonlyArray<string>> = []
  for (const [title, paths] of Object.entries(pagesOf(supplier))) {
    const round = Effect.forEach(paths, (path) => milliseconds(`${root}${path}`, cookie))
    yield* round
    const before = processorSeconds(installation)
    const counted = yield* Effect.replicateEffect(round, rounds)
    const processor = ((processorSeconds(installation) - before) * 1e3) / rounds
    const sums = counted.map((each) => each.reduce((sum, time) => sum + time, 0))
    const medians = paths.map((_, index) => median(counted.map((each) => each[index] ?? 0)))
    const slowest = Math.max(...medians)
    const path = paths[medians.indexOf(slowest)]?.replace(supplier, "…") ?? ""
    const numbers = [processor, median(sums), Math.max(...sums), slowest].map(short)
    rows.push([title, String(paths.length), ...numbers, `\`${path}\``])
    yield* Console.error(rows.at(-1)?.join("  "))
  }
  const head = ["page", "requests", "processor ms", "median ms", "most ms", "slowest ms", "which"]
  return table(head, rows)
})

const measure = Effect.fnUntraced(function* (size: number) {
  const server = yield* startServer
  const installation = yield* install(server, "board")
  const [largest = ""] = yield* fill(installation, size)
  const text = yield* measurePages(installation, largest)
  const title = `Pages with ${size.toLocaleString("en-GB")} imports of ${suppliers} suppliers`
  return Array.of({ title, text })
}, Effect.scoped)

const command = Command.make(
  "bench:board",
  {
    size: positive("size").pipe(
      Flag.withDescription("How many imports there are in all"),
      Flag.withDefault(1_000_000)
    )
  },
  Effect.fnUntraced(function* ({ size }) {
    const sections = yield* Effect.provide(measure(size), FetchHttpClient.layer)
    yield* publish("bench:board", sections)
  })
).pipe(Command.withDescription("Measures the pages of the board on a large database"))

runMain(command, { messageOf })
