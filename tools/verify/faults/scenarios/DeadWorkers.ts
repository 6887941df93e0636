/**
 * A worker dies in the middle of attempts. Their imports stay IN_PROGRESS exactly as long as the
 * lease, then read UNKNOWN, and the next attempts succeed at once. A lock on a table that the
 * attempts write to keeps them in progress.
 */
import { Clock, DateTime, Deferred, Duration, Effect, Fiber, Schema } from "effect"
import { rowsOf } from "@data-import/postgres/connection/Database"
import * as Client from "@data-import/testbed/Client"
import { Findings } from "../Findings.ts"
import { AcknowledgedWrites } from "../AcknowledgedWrites.ts"
import * as Requests from "../Requests.ts"
import type { Scenario } from "../Scenario.ts"
import * as Session from "../Session.ts"
import { System } from "@data-import/testbed/System"
import type { Tenant } from "@data-import/testbed/Tenants"
import { verify } from "../Verification.ts"

const atOnce = 8

/** Holds a lock that blocks every new account until the deferred is done. */
const holding = Effect.fnUntraced(function* (held: Deferred.Deferred<void>) {
  const { run, sql } = (yield* System).database
  const release = yield* Deferred.make<void>()
  const lock = Effect.gen(function* () {
    yield* sql`lock table accounts in share mode`
    yield* Deferred.succeed(held, undefined)
    yield* Deferred.await(release)
  })
  const fiber = yield* Effect.forkScoped(run(sql.withTransaction(lock)))
  return Effect.andThen(Deferred.succeed(release, undefined), Fiber.join(fiber))
})

const statusOf = (session: Session.Session, tenant: Tenant, number: string) =>
  Effect.map(session.settle(Requests.status(tenant, number)), ({ answer }) =>
    Client.textAt(answer.json, "status")
  )

const until = (session: Session.Session, tenant: Tenant, number: string, wanted: string) =>
  Effect.gen(function* () {
    while ((yield* statusOf(session, tenant, number)) !== wanted) {
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

/** What all rounds share. */
interface Ward {
  readonly session: Session.Session
  readonly tenant: Tenant
  readonly writes: AcknowledgedWrites
  readonly findings: Findings
}

/** Watches an import until it is UNKNOWN; returns how many seconds after its lease that was. */
const watch = Effect.fnUntraced(function* (
  { findings, session, tenant }: Ward,
  number: string,
  end: number
) {
  for (;;) {
    const asked = yield* Clock.currentTimeMillis
    const status = yield* statusOf(session, tenant, number)
    const answered = yield* Clock.currentTimeMillis
    if (status === "UNKNOWN" && answered >= end) return (answered - end) / 1_000
    if (status !== "IN_PROGRESS" || asked > end + 10_000) {
      findings.add("wrong", `${number} is ${status} ${(asked - end) / 1_000} s after its lease`)
      return (answered - end) / 1_000
    }
    yield* Effect.sleep(Duration.millis(10))
  }
})

/** Starts attempts, and kills their worker when all of them are IN_PROGRESS. */
const die = Effect.fnUntraced(function* (
  { writes, session, tenant }: Ward,
  numbers: ReadonlyArray<string>
) {
  const { services } = yield* System
  const held = yield* Deferred.make<void>()
  const release = yield* holding(held)
  yield* Deferred.await(held)
  for (const number of numbers) writes.of(number).processed = true
  const attempts = yield* Effect.forkScoped(
    Effect.forEach(numbers, (number) => session.send(Requests.process(tenant, number)), {
      concurrency: "unbounded"
    })
  )
  yield* Effect.forEach(numbers, (number) => until(session, tenant, number, "IN_PROGRESS"))
  yield* services["account-import"].kill()
  yield* Fiber.await(attempts)
  yield* buryStatements
  yield* release
}, Effect.scoped)

/** Makes the next attempt at an import, whose worker is back at `back` at the earliest. */
const succeed = Effect.fnUntraced(function* (
  ward: Ward,
  number: string,
  end: number,
  back: Fiber.Fiber<number, Error>
) {
  const { findings, writes, session, tenant } = ward
  const unknown = yield* watch(ward, number, end)
  const possible = Math.max(end, yield* Fiber.join(back))
  const { answer } = yield* session.settle(Requests.process(tenant, number))
  if (answer.status === 201) {
    writes.imported(writes.of(number), Client.textAt(answer.json, "kraken_account_number"))
  } else {
    findings.add("wrong", `${number}: ${answer.status} ${Client.codeOf(answer)}`)
  }
  return { unknown, made: ((yield* Clock.currentTimeMillis) - possible) / 1_000 }
})

const death = Effect.fnUntraced(function* (ward: Ward, round: number) {
  const { services } = yield* System
  const { findings, writes, session, tenant } = ward
  const numbers = Array.from({ length: atOnce }, (_, index) => `W-${round}-${index + 1}`)
  for (const number of numbers) {
    const { answer } = yield* session.settle(Requests.stage(tenant, number, "once"))
    if (answer.status === 201) writes.staged(writes.of(number), "once")
    else findings.add("wrong", `${number}: staged ${answer.status}`)
  }
  yield* die(ward, numbers)
  const ends = yield* leaseEnds(tenant)
  const starting = Effect.andThen(services["account-import"].start(), Clock.currentTimeMillis)
  const back = yield* Effect.forkScoped(starting)
  return yield* Effect.forEach(
    numbers,
    (number) => succeed(ward, number, ends.get(number) ?? 0, back),
    { concurrency: "unbounded" }
  )
}, Effect.scoped)

export const deadWorkers: Scenario = {
  name: "dead-workers",
  about: `SIGKILL of a worker in the middle of ${atOnce} attempts`,
  short: { kills: 1, count: 0 },
  long: { kills: 20, count: 0 },
  run: Effect.fnUntraced(function* ({ kills }) {
    const { freshTenant } = yield* System
    const tenant = yield* freshTenant
    const session = yield* Session.open(tenant, 2 * atOnce)
    const ward: Ward = {
      session,
      tenant,
      writes: new AcknowledgedWrites(),
      findings: new Findings()
    }
    const rounds = Array.from({ length: kills }, (_, index) => index + 1)
    const ended = (yield* Effect.forEach(rounds, (round) => death(ward, round))).flat()
    yield* verify(tenant, ward.writes.entries, ward.findings)
    const worst = (seconds: ReadonlyArray<number>) => Math.max(0, ...seconds)
    return {
      acknowledged: ward.writes.acknowledged,
      findings: ward.findings,
      figures: [
        {
          name: "UNKNOWN after the lease",
          value: worst(ended.map(({ unknown }) => unknown)),
          unit: "s",
          atMost: 1
        },
        {
          name: "next account after the lease",
          value: worst(ended.map(({ made }) => made)),
          unit: "s",
          atMost: 1
        }
      ]
    }
  })
}
