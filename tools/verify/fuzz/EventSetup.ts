/** Deletes the first event of an organisation, so that cases find a position that is too old. */
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { Database } from "@data-import/postgres/connection/Database"
import { Data, Duration, Effect, Schedule } from "effect"

class EventSetUpFailed extends Data.TaggedError("EventSetUpFailed")<{ readonly message: string }> {}

const untilPositioned = { schedule: Schedule.spaced(Duration.millis(100)), times: 300 }

export const holdEvents = Effect.fnUntraced(function* (organisation: OrganisationName) {
  const { run, sql } = yield* Database
  const pruned = run(sql`
    update event_heads set pruned_through = 1
    where organisation = ${organisation} and position > 0 returning 1`)
  const missing = new EventSetUpFailed({ message: `${organisation} has no events` })
  yield* Effect.retry(
    Effect.flatMap(pruned, ({ length }) => (length > 0 ? Effect.void : Effect.fail(missing))),
    untilPositioned
  )
})
