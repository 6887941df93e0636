/**
 * The events of the caller's organisation, read page by page. Read-only. A supplier of another
 * organisation is reported as unknown.
 * Source: docs/contract/events.md#reading-events.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SupplierCodeField } from "../accounts/Account.ts"
import type { AnyEventName } from "./Event.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { EventLog } from "./EventLog.ts"
import {
  EventsPruned,
  type Failure,
  NotFound,
  unavailable,
  ValidationFailed
} from "../requests/Failure.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { findOwnSupplier } from "../suppliers/OwnSupplier.ts"
import { traced } from "../support/Traced.ts"
import { bodyOf, type EventsBody } from "./EventBody.ts"

/** The parameters of the request; null if they were not sent. */
export interface EventFilter {
  readonly after: number | null
  readonly limit: number
  readonly supplier: string | null
  readonly name: AnyEventName | null
}

export class EventFeed extends Context.Service<
  EventFeed,
  { readonly list: (caller: Caller, filter: EventFilter) => Effect.Effect<EventsBody, Failure> }
>()("@data-import/domain/EventFeed") {}

const supplierCode = Schema.decodeUnknownOption(SupplierCodeField)

const unknownPosition = (newest: number) => {
  const detail = `Must be at most ${newest}, the position of the newest event.`
  const error = { attr: "after", code: "max_value", detail, parameters: { limit: newest } } as const
  const errors: ReadonlyArray<FieldError> = [error]
  return new ValidationFailed({ code: "request_failed_validation", errors })
}

const make = Effect.gen(function* () {
  const log = yield* EventLog
  const findSupplier = findOwnSupplier(yield* Configuration)

  const ownSupplier = Effect.fnUntraced(function* (caller: Caller, named: string) {
    const found = yield* findSupplier(caller, supplierCode(named))
    return Option.isSome(found) ? found.value.code : yield* new NotFound()
  })

  const list = Effect.fnUntraced(function* (caller: Caller, filter: EventFilter) {
    const { after, limit, name, supplier: named } = filter
    const { organisation } = caller
    const supplier = named === null ? null : yield* ownSupplier(caller, named)
    const page = yield* log.read({ organisation, after, limit, name, supplier })
    switch (page._tag) {
      case "Page":
        return { events: page.events.map(bodyOf), next_after: page.nextAfter }
      case "Pruned":
        return yield* new EventsPruned({ oldestAfter: page.oldestAfter })
      case "Unknown":
        return yield* unknownPosition(page.newest)
    }
  })

  return EventFeed.of({
    list: traced("EventFeed.list")((caller, filter) =>
      Effect.catchTag(list(caller, filter), "StorageUnavailable", () => unavailable)
    )
  })
})

export const layer = Layer.effect(EventFeed, make)
