/**
 * The upper bounds of the services' throughput: PostgreSQL with the same statement and no service,
 * Node's HTTP server with no work to do, and the domain library alone.
 */
import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { Data, Effect, Redacted } from "effect"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import type { Subject } from "./Subjects.ts"
import { othersCpuSeconds, postgresCpuSeconds } from "./Usage.ts"
import { accountMark, storedPayload } from "./Workloads.ts"

/** A required program could not be run. */
export class CannotRun extends Data.TaggedError("CannotRun")<{ readonly message: string }> {}

const execute = promisify(execFile)

/** The output of a program; fails unless it exits with 0. */
const output = (
  command: string,
  args: ReadonlyArray<string>,
  settings: Readonly<Record<string, string>> = {}
): Effect.Effect<string, CannotRun> =>
  Effect.tryPromise({
    try: async (signal) => {
      const { stdout } = await execute(command, args, {
        env: { ...process.env, ...settings },
        signal
      })
      return stdout
    },
    catch: (cause) => new CannotRun({ message: `${command}: ${String(cause)}` })
  })

/** The size of a service's connection pool. */
const clients = 10

const number = "'B-' || :number::text"

/** The parameters of the statements, as pgbench has them. */
const parameters = {
  stage: [
    ":supplier::text",
    number,
    `replace(:payload::text, '${accountMark}', ${number})`,
    "now()",
    ":organisation::text",
    "'bench'",
    "'bench'"
  ],
  status: [":supplier::text", "'S-' || lpad((:number::bigint % 2000)::text, 9, '0')"]
}

/** The simplest form of the statements of a service. */
const statements = {
  stage: `
    with changed as (
      insert into import_processes as present
        (supplier, external_account_number, payload, staged_at)
      values ($1, $2, $3::json, $4)
      on conflict on constraint import_processes_pair_once do update
      set payload = excluded.payload, staged_at = excluded.staged_at,
        stagings = present.stagings + 1, lease_attempt = null, lease_expires_at = null
      where present.account_number is null and not present.skipped
        and (present.lease_attempt is null or present.lease_expires_at <= excluded.staged_at)
      returning id, stagings
    ),
    expired as (
      update import_attempts set ended_at = $4, outcome = 'lease_expired'
      from changed where import_id = changed.id and ended_at is null
    ),
    event as (
      insert into outbox (at, name, import_id)
      select $4, 'data_import.import_process.staged-v1', id from changed
    ),
    audit as (
      insert into audit_log (at, organisation, api_key, request_id, action, outcome,
        import_supplier, external_account_number)
      select $4, $5, $6, $7, 'stage', case stagings when 1 then 'created' else 'replaced' end,
        $1, $2
      from changed
    )
    select stagings from changed`,
  status: `
    select skipped, lease_expires_at, account_number from import_processes
    where supplier = $1 and external_account_number = $2`
}

const scriptOf = (workload: keyof typeof statements): string => {
  const values = parameters[workload]
  const sql = statements[workload]
    .replaceAll(/\$(\d+)/g, (_, place: string) => `(${values[Number(place) - 1]})`)
    .replaceAll(/\s*\n\s*/g, " ")
  return `\\set number random(1, 1000000000000)\n${sql};\n`
}

/** Runs pgbench with the statement of this workload for this many seconds. */
export const pgbench = Effect.fnUntraced(function* (
  { installation: { server, url }, tenant }: Subject,
  workload: keyof typeof statements,
  seconds: number
) {
  const file = join(yield* temporaryFolder(), "script.sql")
  writeFileSync(file, scriptOf(workload))
  const { hostname, password, pathname, port, username } = new URL(Redacted.value(url))
  const before = postgresCpuSeconds(server.pid)
  const othersBefore = othersCpuSeconds(server.pid)
  const printed = yield* output(
    "pgbench",
    [
      ...["--host", hostname, "--port", port, "--username", username],
      ...["--no-vacuum", "--protocol", "prepared", "--client", String(clients), "--jobs", "1"],
      ...["--time", String(seconds), "--file", file],
      ...["--define", `supplier=${tenant.supplier}`],
      ...["--define", `payload=${storedPayload(tenant.supplier)}`],
      ...["--define", `organisation=${tenant.organisation}`],
      pathname.slice(1)
    ],
    { PGPASSWORD: password }
  )
  const after = postgresCpuSeconds(server.pid)
  const others = (othersCpuSeconds(server.pid) - othersBefore) / seconds
  const read = (form: RegExp) => Number(form.exec(printed)?.[1] ?? Number.NaN)
  const count = read(/transactions actually processed: (\d+)/)
  const latency = read(/latency average = ([\d.]+) ms/)
  return {
    rate: read(/tps = ([\d.]+)/),
    p50: latency,
    p99: latency,
    serviceCpu: 0,
    postgresCpu: (after - before) / (count / 1_000),
    others
  }
}, Effect.scoped)

/** Accounts per second that the library validates on one core, in the best of some seconds. */
export const offline = Effect.gen(function* () {
  const script = join(import.meta.dirname, "offline.ts")
  const printed = yield* output(process.execPath, [script, "--accounts", "10"])
  return JSON.parse(printed) as { readonly perSecond: number; readonly bytes: number }
})
