/**
 * The events of the organisation as a stream. Store the `position` of the last event that you
 * processed, and begin after it the next time. If events after it were deleted meanwhile, the
 * stream fails with `events_pruned`, which has the lowest position that can be read.
 * Source: docs/contract/events.md#reading-events.
 */
import { Effect, Option, Stream } from "effect"
import { longestWait } from "@data-import/api/Limits"
import type { Answer, ErrorOf, Operations } from "./Operations.ts"

export type EventPage = Answer<"events", "listEvents">
export type ImportEvent = EventPage["events"][number]

type Query = NonNullable<NonNullable<Parameters<Operations["events"]["listEvents"]>[0]>["query"]>
type EventError = ErrorOf<"events", "listEvents">

/** Which events, and where to begin: after this position, or with the oldest that is kept. */
export type EventOptions = Pick<Query, "after" | "import_supplier" | "name">

export interface EventFeed {
  /** The pages from that position on, and new ones as soon as there are events. It does not end. */
  readonly followPages: (options?: EventOptions) => Stream.Stream<EventPage, EventError>
  /** The events from that position on, and new ones as soon as they happen. It does not end. */
  readonly follow: (options?: EventOptions) => Stream.Stream<ImportEvent, EventError>
  /** The events from that position on until now. */
  readonly read: (options?: EventOptions) => Stream.Stream<ImportEvent, EventError>
}

const mostEvents = 1_000

export const eventFeed = ({ events }: Operations): EventFeed => {
  const pages = (options: EventOptions, wait: number) =>
    Stream.paginate(options.after, (after) => {
      const { after: _, ...filters } = options
      const query = { ...filters, limit: mostEvents, wait, ...(after !== undefined && { after }) }
      return Effect.map(events.listEvents({ query }), (page) => {
        const { next_after } = page
        const isAtEnd = wait === 0 && next_after === (after ?? 0)
        return [[page], isAtEnd ? Option.none() : Option.some<number | undefined>(next_after)]
      })
    })
  const eventsOf = (all: Stream.Stream<EventPage, EventError>) =>
    Stream.flatMap(all, (page) => Stream.fromIterable(page.events))
  const followPages: EventFeed["followPages"] = (options = {}) => pages(options, longestWait)
  return {
    followPages,
    follow: (options) => eventsOf(followPages(options)),
    read: (options = {}) => eventsOf(pages(options, 0))
  }
}
