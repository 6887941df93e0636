/**
 * A worker dies in the middle of attempts. Their imports stay IN_PROGRESS exactly as long as the
 * lease, then read UNKNOWN, and the next attempts succeed at once. A lock on a table that the
 * attempts write to keeps them in progress.
 */
import { Clock, DateTime, Duration, Effect, Fiber, Schema } from "effect"
import { rowsOf } from "@data-import/postgres/connection/Database"
import * as Client from "@data-import/testbed/Client"
import { hold } from "../DatabaseLock.ts"
import * as Requests from "../Requests.ts"
import type { Scenario } from "../Scenario.ts"
import { begin, process, settle, stage, type Work } from "../Work.ts"
import { System } from "@data-import/testbed/System"
import type { Tenant } from "@data-import/testbed/Tenants"

const atOnce = 8

const statusOf = ({ session, tenant }: Work, number: string) =>
  Effect.map(session.settle(Requests.status(tenant, number)), ({ answer }) =>
    Client.textAt(answer.json, "status")
  )

const until = (work: Work, number: string, wanted: string) =>
  Effect.gen(function* () {
    while ((yield* statusOf(work, number)) !== wanted) {
      yield* Effect.sleep(Duration.millis(10))
    }
  }).pipe(Effect.timeout(Duration.seconds(30)))

/** Ends the backends of the dead attempts, as the loss of their host would. */
const buryStatements = Effect.gen(function* () {
  const { run, sql } = (yield* System).database
  yield* run(sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'data-import' and wait_event_type = 'Lock'`)
})

const expiries = rowsOf(
  Schema.Struct({ number: Schema.String, expires: Schema.DateTimeUtcFromDate })
)

/** When the leases of the dead attempts end, in milliseconds, by account number. */
const leaseEnds = Effect.fnUntraced(function* ({ supplier }: Tenant) {
  const { run, sql } = (yield* System).database
  const rows = yield* run(
    expiries(sql`
      select external_account_number as number, lease_expires_at as expires
      from import_processes where supplier = ${supplier} and lease_attempt is not null`)
  )
  return new Map(rows.map(({ expires, number }) => [number, DateTime.toEpochMillis(expires)]))
})

/** Watches an import until it is UNKNOWN; returns how many seconds after its lease that was. */
const watch = Effect.fnUntraced(function* (work: Work, number: string, end: number) {
  for (;;) {
    const asked = yield* Clock.currentTimeMillis
    const status = yield* statusOf(work, number)
    const answered = yield* Clock.currentTimeMillis
    if (status === "UNKNOWN" && answered >= end) return (answered - end) / 1_000
    if (status !== "IN_PROGRESS" || asked > end + 10_000) {
      work.findings.add(
        "wrong",
        `${number} is ${status} ${(asked - end) / 1_000} s after its lease`
      )
      return (answered - end) / 1_000
    }
    yield* Effect.sleep(Duration.millis(10))
  }
})

/** Starts attempts, and kills their worker when all of them are IN_PROGRESS. */
const die = Effect.fnUntraced(function* (work: Work, numbers: ReadonlyArray<string>) {
  const { session, tenant, writes } = work
  const { services } = yield* System
  const release = yield* hold((sql) => sql`lock table accounts in share mode`)
  for (const number of numbers) writes.of(number).processed = true
  const attempts = yield* Effect.forkScoped(
    Effect.forEach(numbers, (number) => session.send(Requests.process(tenant, number)), {
      concurrency: "unbounded"
    })
  )
  yield* Effect.forEach(numbers, (number) => until(work, number, "IN_PROGRESS"))
  yield* services["account-import"].kill()
  yield* Fiber.await(attempts)
  yield* buryStatements
  yield* release
}, Effect.scoped)

/** Makes the next attempt at an import, whose worker is back at `back` at the earliest. */
const succeed = Effect.fnUntraced(function* (
  work: Work,
  number: string,
  end: number,
  back: Fiber.Fiber<number, Error>
) {
  const unknown = yield* watch(work, number, end)
  const possible = Math.max(end, yield* Fiber.join(back))
  yield* process(work, number)
  return { unknown, made: ((yield* Clock.currentTimeMillis) - possible) / 1_000 }
})

const death = Effect.fnUntraced(function* (work: Work, round: number) {
  const { services } = yield* System
  const numbers = Array.from({ length: atOnce }, (_, index) => `W-${round}-${index + 1}`)
  yield* Effect.forEach(numbers, (number) => stage(work, number))
  yield* die(work, numbers)
  const ends = yield* leaseEnds(work.tenant)
  const starting = Effect.andThen(services["account-import"].start(), Clock.currentTimeMillis)
  const back = yield* Effect.forkScoped(starting)
  return yield* Effect.forEach(
    numbers,
    (number) => succeed(work, number, ends.get(number) ?? 0, back),
    { concurrency: "unbounded" }
  )
}, Effect.scoped)

const worst = (seconds: ReadonlyArray<number>) => Math.max(0, ...seconds)

export const deadWorkers: Scenario = {
  name: "dead-workers",
  about: `SIGKILL of a worker in the middle of ${atOnce} attempts`,
  short: { kills: 1, count: 0 },
  long: { kills: 20, count: 0 },
  run: Effect.fnUntraced(function* ({ kills }) {
    const work = yield* begin(2 * atOnce)
    const rounds = Array.from({ length: kills }, (_, index) => index + 1)
    const ended = (yield* Effect.forEach(rounds, (round) => death(work, round))).flat()
    const unknown = worst(ended.map((each) => each.unknown))
    const made = worst(ended.map((each) => each.made))
    const figures = [
      { name: "UNKNOWN after the lease", value: unknown, unit: "s", atMost: 1 },
      { name: "next account after the lease", value: made, unit: "s", atMost: 1 }
    ]
    return { ...(yield* settle(work)), figures }
  })
}
