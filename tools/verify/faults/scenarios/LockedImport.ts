/**
 * One import and one account are locked for a long time, and clients keep sending requests for
 * them. These requests wait and are then refused; all others are hardly slower. The same load is
 * measured without the lock before and after, because other programs share the machine.
 */
import { Duration, Effect } from "effect"
import type * as Client from "@data-import/testbed/Client"
import * as Load from "../Load.ts"
import { hold } from "../DatabaseLock.ts"
import * as Requests from "../Requests.ts"
import { type Scenario, seconds } from "../Scenario.ts"
import type * as Session from "../Session.ts"
import { begin, process, stage } from "../Work.ts"
import { quantile } from "@data-import/testbed/Quantile"
import type { Tenant } from "@data-import/testbed/Tenants"

/** Requests per second of each kind for the locked import and account. */
const rate = 10
/** Other clients that stage concurrently. */
const sideBySide = 8

const staged = "L-staged"
const imported = "L-imported"

const lockBoth = ({ supplier }: Tenant) =>
  hold(
    (sql) => sql`
      select from import_processes left join accounts on accounts.id = account_id
      where supplier = ${supplier} and external_account_number in (${staged}, ${imported})
      for update of import_processes`
  ).pipe(
    Effect.zipWith(
      hold(
        (sql) => sql`
          select from accounts join import_processes on account_id = accounts.id
          where supplier = ${supplier} for update of accounts`
      ),
      (one, other) => Effect.andThen(one, other)
    )
  )

const isServed = ({ status }: Load.Sample): boolean => status === 200 || status === 201

const p99 = (samples: ReadonlyArray<Load.Sample>): number =>
  quantile(
    samples.map(({ millis }) => millis),
    0.99
  )

const complain = (what: string, { code, retryAfter, status }: Load.Sample) =>
  `${what}: ${status} ${code}, Retry-After ${retryAfter}`

/** The same requests for the import and account to lock and for others, concurrently. */
const makeLoad = (tenant: Tenant, session: Session.Session, lasts: Duration.Duration) => {
  let count = 0
  const next = () => Requests.stage(tenant, `other ${count++}`, "free")
  const asked: ReadonlyArray<() => Client.Request> = [
    () => Requests.stage(tenant, staged, "locked"),
    () => Requests.process(tenant, staged, { dry_run: true }),
    () => Requests.note(tenant, imported, `note ${crypto.randomUUID()}`)
  ]
  const load = Effect.all(
    {
      others: Load.closed(session, next, { sideBySide, lasts, pause: Duration.zero }),
      contended: Effect.forEach(asked, (request) => Load.open(session, request, { rate, lasts }), {
        concurrency: "unbounded"
      })
    },
    { concurrency: "unbounded" }
  )
  const settle = Effect.forEach(asked, (request) => session.settle(request()), { discard: true })
  return { load: Effect.scoped(load), settle }
}

const run = Effect.fnUntraced(function* (lastsSeconds: number) {
  const work = yield* begin(Infinity)
  const { findings, session, tenant } = work
  yield* stage(work, staged)
  yield* stage(work, imported)
  yield* process(work, imported)
  yield* makeLoad(tenant, session, Duration.seconds(2)).load
  const { load, settle } = makeLoad(tenant, session, Duration.seconds(lastsSeconds))
  const before = yield* load
  const release = yield* lockBoth(tenant)
  const locked = yield* load
  yield* release
  const recovery = yield* seconds(settle)
  const after = yield* load
  const free = [...before.others, ...after.others]
  for (const sample of [...free, ...locked.others]) {
    if (!isServed(sample)) findings.add("wrong", complain("another staging", sample))
  }
  const refused = locked.contended.flat()
  for (const sample of refused) {
    if (sample.status === 503 && sample.retryAfter !== null) continue
    findings.add("wrong", complain("for what is locked", sample))
  }
  const times = p99(locked.others) / p99(free)
  return {
    acknowledged: [...free, ...locked.others].filter(isServed).length,
    findings,
    recoveries: [recovery],
    figures: [
      { name: "stagings of others without the lock", value: free.length / 2, unit: "" },
      { name: "and with it", value: locked.others.length, unit: "" },
      { name: "p99 without", value: p99(free), unit: "ms" },
      { name: "p99 with it", value: p99(locked.others), unit: "ms" },
      { name: "so many times", value: times, unit: "", atMost: 2 },
      { name: "refused for what is locked", value: refused.length, unit: "", atLeast: 1 }
    ]
  }
}, Effect.scoped)

export const lockedImport: Scenario = {
  name: "locked-import",
  about: "one import and one account stay locked, and are asked for again and again",
  short: { kills: 0, count: 8 },
  long: { kills: 0, count: 30 },
  run: ({ count }) => run(count)
}
