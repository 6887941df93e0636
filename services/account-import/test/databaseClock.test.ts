/**
 * Two instances on one database, one of them on a machine whose clock is an hour wrong. Only the
 * database's clock counts.
 */
import { expect, layer } from "@effect/vitest"
import { Clock, Context, DateTime, Duration, Effect, Fiber, Layer } from "effect"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { portsBeside } from "@data-import/postgres/testing/serviceDatabase"
import { rows } from "@data-import/postgres/testing/rows"
import { whileAccountsStandStill } from "@data-import/postgres/testing/standstill"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { errorsOf, running, until } from "@data-import/server/testing/RunningService"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { TokenIssuer, layer as tokenMint } from "@data-import/server/testing/TokenIssuer"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"
import { layer as accountImport } from "../src/AccountImport.ts"
import { accountOf, isInProgress, databaseUserUrl, process, stage } from "./importService.ts"

const wrongBy = (wrong: Duration.Duration): Layer.Layer<never> =>
  Layer.effect(
    Clock.Clock,
    Effect.map(Clock.Clock, (clock) => {
      const millis = () => clock.currentTimeMillisUnsafe() + Duration.toMillis(wrong)
      const nanos = () => BigInt(millis()) * 1_000_000n
      return {
        currentTimeMillisUnsafe: millis,
        currentTimeMillis: Effect.sync(millis),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: Effect.sync(nanos),
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: clock.monotonicTimeNanos,
        sleep: (duration) => clock.sleep(duration)
      }
    })
  )

type Instance = Context.Context<Layer.Success<ReturnType<typeof running>>>

/** The two instances, each as the context of its requests. */
class Instances extends Context.Service<
  Instances,
  { readonly right: Instance; readonly off: Instance }
>()("test/Instances") {}

/** A fresh database with the two instances, one of which has a clock that is wrong by `wrong`. */
const instancesWith = (wrong: Duration.Duration) =>
  Layer.unwrap(
    Effect.map(freshUrl, (url) => {
      const settings = { DATABASE_URL: databaseUserUrl(url), RATE_LIMIT: "60" }
      const instance = (clock: Layer.Layer<never>) =>
        Layer.build(Layer.fresh(running(accountImport, settings).pipe(Layer.provide(clock))))
      return Layer.effect(
        Instances,
        Effect.all({ right: instance(Layer.empty), off: instance(wrongBy(wrong)) })
      ).pipe(Layer.merge(portsBeside(url)))
    })
  ).pipe(Layer.provideMerge(Layer.merge(tokenMint, tokenSecrets)))

/** The remaining seconds of the lease of the tenant's import, by the database's clock. */
const leaseOf = ({ supplier }: Tenant) =>
  Effect.map(
    rows(
      (sql) => sql<{ seconds: number }>`
      select extract(epoch from lease_expires_at - clock_timestamp())::float8 as seconds
      from import_processes where supplier = ${supplier.code}`
    ),
    ([row]) => row?.seconds
  )

layer(instancesWith(Duration.hours(1)), { excludeTestServices: true })(
  "beside an instance whose clock is an hour ahead",
  (it) => {
    it.effect("a lease lasts a minute on either instance", () =>
      Effect.gen(function* () {
        const instances = yield* Instances
        for (const [holder, other] of [
          [instances.off, instances.right],
          [instances.right, instances.off]
        ] as const) {
          const tenant = yield* freshTenant()
          const key = tenant.keyOf("1")
          yield* Effect.provideContext(stage(tenant, accountOf(key)), holder)
          yield* whileAccountsStandStill(
            Effect.gen(function* () {
              const held = yield* Effect.forkChild(
                Effect.provideContext(process(tenant, key), holder)
              )
              yield* until(isInProgress(key), (isHeld) => isHeld)
              const seconds = yield* leaseOf(tenant)
              expect(seconds).toBeGreaterThan(30)
              expect(seconds).toBeLessThanOrEqual(60)
              const refused = yield* Effect.provideContext(process(tenant, key), other)
              expect(errorsOf(refused)).toEqual(["account_import_process_in_progress"])
              return held
            })
          ).pipe(
            Effect.flatMap(Fiber.join),
            Effect.map(({ status }) => expect(status).toBe(201))
          )
        }
      })
    )

    it.effect("an attempt that died is taken over once its lease has ended", () =>
      Effect.gen(function* () {
        const instances = yield* Instances
        const tenant = yield* freshTenant()
        const keys = [tenant.keyOf("running"), tenant.keyOf("over")] as const
        const [live, over] = keys
        yield* Effect.forEach(keys, (key) =>
          Effect.provideContext(stage(tenant, accountOf(key)), instances.right)
        )
        const leave = (number: string, seconds: number) =>
          rows(
            (sql) => sql`
            update import_processes set lease_attempt = 'dead',
              lease_expires_at = clock_timestamp() + ${seconds}::integer * interval '1 second'
            where supplier = ${tenant.supplier.code} and external_account_number = ${number}`
          )
        yield* leave(live.external_account_number, 55)
        yield* leave(over.external_account_number, -1)
        const refused = yield* Effect.provideContext(process(tenant, live), instances.off)
        expect(errorsOf(refused)).toEqual(["account_import_process_in_progress"])
        const taken = yield* Effect.provideContext(process(tenant, over), instances.off)
        expect(taken.status).toBe(201)
      })
    )

    it.effect("keys and tokens expire by the database's clock", () =>
      Effect.gen(function* () {
        const instances = yield* Instances
        const tenant = yield* freshTenant()
        const { tokenOf } = yield* TokenIssuer
        const now = yield* DateTime.now
        const scopes = ["import:write"] as const
        const { organisation } = tenant
        const keyFor = (minutes: number) =>
          issueKey({ organisation, label: "t", scopes, expiresAt: DateTime.add(now, { minutes }) })
        const live = yield* keyFor(30)
        const expired = yield* keyFor(-30)
        const tokens = {
          live: yield* tokenOf(live.key, Duration.minutes(30)),
          ofExpiredKey: yield* tokenOf(expired.key, Duration.minutes(30)),
          expired: yield* tokenOf(live.key, Duration.minutes(-30))
        }
        for (const instance of Object.values(instances)) {
          const statusFor = (token: string) =>
            Effect.map(
              Effect.provideContext(
                stage({ ...tenant, token }, accountOf(tenant.keyOf("1"))),
                instance
              ),
              ({ status }) => status
            )
          expect([200, 201]).toContain(yield* statusFor(tokens.live))
          expect(yield* statusFor(tokens.ofExpiredKey)).toBe(401)
          expect(yield* statusFor(tokens.expired)).toBe(401)
        }
      })
    )

    it.effect("the rate of an organisation is shared, and Retry-After is not an hour", () =>
      Effect.gen(function* () {
        const instances = yield* Instances
        const { off, right } = instances
        const tenant = yield* freshTenant()
        let asked = 0
        const ask = (instance: typeof right) =>
          Effect.provideContext(stage(tenant, accountOf(tenant.keyOf(`${asked++}`))), instance)
        const drained = Effect.gen(function* () {
          for (const instance of [off, right]) {
            yield* until(ask(instance), ({ status }) => status === 429)
          }
        })
        yield* drained
        const [row] = yield* rows(
          (sql) => sql<{ seconds: number }>`
          select extract(epoch from clock_timestamp() - at)::float8 as seconds from allowances
          where organisation = ${tenant.organisation}`
        )
        expect(row?.seconds).toBeGreaterThan(-1)
        expect(row?.seconds).toBeLessThan(60)
        for (const instance of Object.values(instances)) {
          const refused = yield* until(ask(instance), ({ status }) => status === 429)
          expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(2)
        }
        expect(asked, "what the two may send in a minute, and a few seconds more").toBeLessThan(150)
      })
    )
  }
)
