/** Events over HTTP: the handler calls one program and wraps its answer. */
import { Duration, Effect, Option } from "effect"
import { defaultEventLimit, EventGroup } from "@data-import/api/EventApi"
import type { AnyEventName } from "@data-import/domain/events/Event"
import { EventsBody } from "@data-import/domain/events/EventBody"
import { EventFeed, type EventFilter } from "@data-import/domain/events/EventFeed"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import { encoderOf } from "@data-import/domain/schema/Encoder"
import * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import * as Route from "@data-import/server/routing/Route"

type Feed = EventFeed["Service"]

const encode = encoderOf(EventsBody)

/** How often a waiting request looks for an event. */
const lookEvery = Duration.seconds(1)

/**
 * Waits until the page has an event, and checks once a second; the last page after the given time.
 */
const awaited = Effect.fnUntraced(function* (
  feed: Feed,
  caller: Caller,
  filter: EventFilter,
  first: EventsBody,
  seconds: number
) {
  let page = first
  for (let second = 0; second < seconds && page.events.length === 0; second++) {
    yield* Effect.sleep(lookEvery)
    page = yield* feed.list(caller, { ...filter, after: page.next_after })
  }
  return page
})

interface Parameters {
  readonly after?: number
  readonly limit?: number
  readonly wait?: number
  readonly import_supplier?: string
  readonly name?: AnyEventName
}

const listEvents =
  (feed: Feed) =>
  ({
    caller,
    parameters,
    wait
  }: Call & { readonly caller: Caller; readonly parameters: Parameters }) =>
    Effect.gen(function* () {
      const { after = null, import_supplier: supplier = null, name = null } = parameters
      const filter = { after, limit: parameters.limit ?? defaultEventLimit, supplier, name }
      const page = yield* feed.list(caller, filter)
      const { wait: seconds = 0 } = parameters
      if (page.events.length > 0 || seconds === 0) return Answer.json(200, encode(page))
      const waited = yield* wait(caller.organisation, awaited(feed, caller, filter, page, seconds))
      return Answer.json(200, encode(Option.getOrElse(waited, () => page)))
    })

export const routes = Effect.map(EventFeed, (feed) =>
  Route.handle(EventGroup, { listEvents: listEvents(feed) })
)
