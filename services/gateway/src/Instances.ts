/** The processes of one service, each with its connection pools, and which of them are ready. */
import { Effect, Schedule, type Scope } from "effect"
import * as Undici from "@effect/platform-node/Undici"
import { type ServiceUnavailable, unavailable } from "@data-import/domain/requests/Failure"

/** Timeouts of the connection pool. Milliseconds. */
export interface Times {
  /** Until a connection is established. */
  readonly connect: number
  /**
   * From the end of the request, or an interim answer, to the answer, and between parts of this.
   * Also for an upload that the service has stopped reading.
   */
  readonly answer: number
}

/** One process of a service, with its connection pool. */
export interface Instance {
  /** Host and port. */
  readonly name: string
  readonly pool: Undici.Pool
  /** A new connection for each request. */
  readonly fresh: Undici.Pool
  /** The result of the last check. Instances that are not ready come last. */
  isReady: boolean
}

/**
 * The maximum idle time of a connection, regardless of the service: less than the drain delay, with
 * a second for the timers of Undici. So each connection to a stopping service is closed by its last
 * answer or here, and never while a request is on its way.
 */
const idleMillis = 3_000

const instance = (url: URL, times: Times): Instance => {
  const options = {
    connect: { timeout: times.connect },
    headersTimeout: times.answer,
    bodyTimeout: times.answer,
    keepAliveTimeout: idleMillis,
    keepAliveMaxTimeout: idleMillis
  }
  return {
    name: url.host,
    pool: new Undici.Pool(url.origin, options),
    fresh: new Undici.Pool(url.origin, { ...options, pipelining: 0 }),
    isReady: true
  }
}

const checkReady = ({ pool }: Instance): Effect.Effect<boolean> =>
  Effect.promise(async (signal) => {
    try {
      const path = "/health/ready"
      const { body, statusCode } = await pool.request({ path, method: "GET", signal })
      await body.dump()
      return statusCode === 200
    } catch {
      // An instance that does not answer is not ready. The next check asks again.
      return false
    }
  })

/** How often each of several instances is checked for readiness. */
const checkInterval = "1 second"

const watch = (instance: Instance) =>
  checkReady(instance).pipe(
    Effect.tap((isReady) => Effect.sync(() => void (instance.isReady = isReady))),
    Effect.repeat(Schedule.spaced(checkInterval))
  )

const rotation = (instances: ReadonlyArray<Instance>): (() => ReadonlyArray<Instance>) => {
  let next = 0
  return () => {
    if (instances.length === 1) return instances
    next = (next + 1) % instances.length
    const rotated = [...instances.slice(next), ...instances.slice(0, next)]
    return [...rotated.filter((one) => one.isReady), ...rotated.filter((one) => !one.isReady)]
  }
}

/** The instances of one service. */
export interface Instances {
  readonly size: number
  /** All of them, in another order at each call; those that are not ready come last. */
  readonly inRotation: () => ReadonlyArray<Instance>
  /** Succeeds if one of them is ready. */
  readonly ready: Effect.Effect<void, ServiceUnavailable>
}

/** Connects to the instances at `urls` (`http`), at least one, until the scope ends. */
export const make = Effect.fnUntraced(function* (
  urls: ReadonlyArray<URL>,
  times: Times
): Effect.fn.Return<Instances, never, Scope.Scope> {
  const instances = yield* Effect.acquireRelease(
    Effect.sync(() => urls.map((url) => instance(url, times))),
    (made) =>
      Effect.promise(() =>
        Promise.all(made.flatMap(({ fresh, pool }) => [pool.destroy(), fresh.destroy()]))
      )
  )
  if (instances.length > 1) {
    yield* Effect.forEach(instances, (one) => Effect.forkScoped(watch(one)), { discard: true })
  }
  const ready = Effect.forEach(instances, checkReady, { concurrency: "unbounded" }).pipe(
    Effect.flatMap((each) => (each.includes(true) ? Effect.void : Effect.fail(unavailable)))
  )
  return { size: instances.length, inRotation: rotation(instances), ready }
})
