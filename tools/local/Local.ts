/**
 * The whole system, on this machine only: PostgreSQL, the migrations, the services in this process,
 * the batch worker in one of its own, and the demo tenant. They start and stop together.
 */
import * as DatabaseUsers from "@data-import/postgres/schema/DatabaseUsers"
import { migrate } from "@data-import/postgres/schema/migrate"
import { issueLink } from "@data-import/domain/access/BoardAccess"
import { Console, Data, Duration, Effect, Schedule } from "effect"
import * as DemoTenant from "./DemoTenant.ts"
import { dataDir } from "@data-import/operator/DataDirectory"
import { own } from "@data-import/operator/LocalDatabase"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import * as Services from "./Services.ts"

/** A part of the system did not answer in time. */
class DoesNotAnswer extends Data.TaggedError("DoesNotAnswer")<{
  readonly seconds: number
}> {
  override get message(): string {
    return `Not every part of the system answered within ${this.seconds} seconds.`
  }
}

/** Waits until the whole system answers, for half a minute at most. */
const waitUntilReady = (check: Effect.Effect<void, unknown>, seconds = 30) =>
  Effect.retry(check, Schedule.spaced(Duration.millis(50))).pipe(
    Effect.orDie,
    Effect.timeoutOrElse({
      duration: Duration.seconds(seconds),
      orElse: () => Effect.fail(new DoesNotAnswer({ seconds }))
    })
  )

/** PostgreSQL may end at any time, and is started again. */
const printSignInLink = Effect.fnUntraced(function* (baseUrl: string) {
  const secret = yield* Effect.retry(issueLink, {
    schedule: Schedule.spaced(Duration.millis(500)),
    while: (error) => error._tag === "StorageUnavailable"
  })
  yield* Console.log(`Sign in to the board, once: ${baseUrl}/board/sign-in/${secret}/`)
})

/**
 * Starts everything, prints its address, and keeps it running. Fails where it cannot be started,
 * and where PostgreSQL has ended and cannot be started again.
 */
export const run = Effect.gen(function* () {
  const folder = yield* dataDir
  const { share, supervise, url } = yield* own
  yield* migrate(url)
  const { operator, ...databaseUsers } = yield* DatabaseUsers.temporary(url)
  const { baseUrl, check } = yield* Services.start({ dataDir: folder, databaseUsers })
  const operatorAccess = DatabaseAccess.layerOperator(operator)
  yield* Effect.provide(DemoTenant.ensure(folder, baseUrl), operatorAccess)
  yield* share
  yield* waitUntilReady(check)
  yield* Console.log(`Data Import answers at ${baseUrl}`)
  return yield* Effect.raceFirst(
    supervise,
    Effect.andThen(printSignInLink(baseUrl), Effect.never).pipe(Effect.provide(operatorAccess))
  )
})
