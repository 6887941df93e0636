/**
 * Dry runs leave nothing behind: afterwards every table holds the same rows, except those that
 * record requests, and the imports are still pending.
 */
import { Effect, Schema } from "effect"
import { rowsOf } from "@data-import/postgres/connection/Database"
import * as Client from "@data-import/testbed/Client"
import * as Requests from "../Requests.ts"
import { type Scenario, writers } from "../Scenario.ts"
import { begin, settle, stage } from "../Work.ts"
import { System } from "@data-import/testbed/System"

/**
 * The tables that record requests, and those that services write on their own: live workers of
 * batches, the progress of the scheduled checks, forecasts, and hourly counts, which are stored
 * when the query service adds up the differences.
 */
const records: ReadonlySet<string> = new Set([
  "import_attempts",
  "outbox",
  "event_heads",
  "audit_log",
  "refusal_windows",
  "audit_head",
  "batch_workers",
  "check_walks",
  "forecasts",
  "import_activity",
  "import_history"
])

/**
 * The counts of imports, which are differences until the query service adds them up into totals, at
 * any time. So the sum of both is compared. A total without a cohort is that of all imports.
 */
const counts: ReadonlySet<string> = new Set(["import_differences", "import_totals"])

const countsAsRows = `
  select kind, name, supplier, sum(count) as count, sum(amount) as amount from (
    select kind, name, supplier, count, amount from import_differences
    union all
    select kind, name, supplier, count, amount from import_totals where cohort = ''
  ) as both_parts
  group by 1, 2, 3 having sum(count) <> 0 or sum(amount) <> 0`

const names = rowsOf(Schema.Struct({ name: Schema.String }))
const digests = rowsOf(Schema.Struct({ digest: Schema.String }))

/** Every other table, and the counts, each with the number and a digest of its rows. */
const contents = Effect.gen(function* () {
  const { run, sql } = (yield* System).database
  const digestOf = Effect.fnUntraced(function* (rows: string) {
    const [found] = yield* run(
      digests(sql`
        select count(*) || ' rows ' || coalesce(md5(string_agg(line, '' order by line)), '')
          as digest
        from (select md5(one::text) as line from (${sql.literal(rows)}) as one) as lines`)
    )
    return found?.digest ?? ""
  })
  const tables = yield* run(
    names(sql`select tablename as name from pg_tables where schemaname = 'public' order by 1`)
  )
  const found = new Map([["counts of imports", yield* digestOf(countsAsRows)]])
  for (const { name } of tables) {
    if (records.has(name) || counts.has(name)) continue
    found.set(name, yield* digestOf(`select * from ${name}`))
  }
  return found
})

/** One in ten names a team that does not exist, and fails. */
const isToFail = (index: number): boolean => index % 10 === 9

export const dryRuns: Scenario = {
  name: "dry-runs",
  about: "dry runs, after which no table differs but attempts, outbox and audit log",
  short: { kills: 0, count: 50 },
  long: { kills: 0, count: 1_000 },
  run: Effect.fnUntraced(function* ({ count }) {
    const work = yield* begin(writers)
    const { findings, session, tenant } = work
    const all = Array.from({ length: count }, (_, index) => ({ index, number: `D-${index + 1}` }))
    const each = <E>(act: (one: (typeof all)[number]) => Effect.Effect<unknown, E>) =>
      Effect.forEach(all, act, { concurrency: writers, discard: true })

    yield* each(({ number }) => stage(work, number, "dry"))
    const before = yield* contents
    yield* each(({ index, number }) => {
      const team = isToFail(index) ? { operations_team_name: "Nobody" } : {}
      const expected = isToFail(index)
        ? "operations_team_name_does_not_exist"
        : "dry_run_successful"
      const request = Requests.process(tenant, number, { dry_run: true, ...team })
      return Effect.map(session.send(request), (answer) => {
        if (answer.status === 400 && Client.codeOf(answer) === expected) return
        findings.add("wrong", `${number}: ${answer.status} ${Client.codeOf(answer)}`)
      })
    })
    const after = yield* contents
    for (const [name, digest] of after) {
      if (before.get(name) === digest) continue
      findings.add("halfMade", `${name} was ${before.get(name)}, and is ${digest}`)
    }
    const figures = [{ name: "dry runs", value: count, unit: `over ${after.size} tables` }]
    return { ...(yield* settle(work)), figures }
  })
}
