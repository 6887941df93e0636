/**
 * The events of an organisation, for polling.
 * Source: docs/contract/events.md#reading-events.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AnyEventName } from "@data-import/domain/events/Event"
import * as Event from "@data-import/domain/events/EventBody"
import { supplierCodeLength } from "@data-import/domain/suppliers/Supplier"
import { requires } from "./Authorization.ts"
import { InstantText } from "./DecimalSchema.ts"
import { documented } from "./Documented.ts"
import { anyProtected, errorBodies } from "./ErrorBody.ts"
import { sampleKey, sampleNumber } from "./Examples.ts"
import { longestWait } from "./Limits.ts"
import { operation } from "./Operation.ts"
import { oneOf, plainText, wholeNumber } from "./Parameter.ts"

/** The default page size of events. */
export const defaultEventLimit = 100

const mostEvents = 1_000

const event = documented(
  "Event",
  "Something that happened: identifiers and codes.",
  Event.EventBody,
  {
    event_id: "The id of the event, a UUID. It never changes.",
    position: "Its place among the events of the organisation: 1, 2, 3 and so on.",
    name: "What happened, with a version. Ignore names that you do not know.",
    at: { description: "When it happened.", wire: InstantText },
    organisation: "The organisation that owns the supplier.",
    import_supplier: "The supplier's code; null for a webhook.",
    external_account_number: "The account number at the supplier; null unless it is of an import.",
    kraken_account_number:
      "The platform account that was created or added to; null for every other event.",
    cohort:
      "The cohort of the import, the batch or the certificate, as it is now; null without one.",
    batch_id: "The batch; null unless it is of a batch.",
    dry_run: "Whether the batch only tries its lines; null unless it is of a batch.",
    webhook_id: "The webhook; null for every other event.",
    certificate_id: "The certificate; left out of every other event.",
    codes:
      "Why an attempt failed: the code of the answer, then those of its errors; or why a webhook was " +
      "disabled. Else empty."
  }
)

const events = documented(
  "Events",
  "One page of events, the oldest first.",
  Event.EventsBody,
  {
    events: "At most `limit`. A page may have fewer, or none, and events may still follow.",
    next_after: "The `after` of the next request. There is no later event if it is the one sent."
  },
  { events: event }
)

const ofImport = {
  event_id: "0b7e1a4c-9d0f-4c58-8f0e-2a51f7c3d6b9",
  position: 48_212,
  name: "data_import.import_process.complete-v1",
  at: "2026-11-23T09:14:07Z",
  organisation: "acme",
  ...sampleKey,
  kraken_account_number: sampleNumber,
  cohort: "wave-3",
  batch_id: null,
  dry_run: null,
  webhook_id: null,
  codes: []
}

const failed = {
  ...ofImport,
  event_id: "5c1d6e0a-40b3-4f4e-b1a7-8d2f9b06c7e4",
  position: 48_213,
  name: "data_import.import_process.error-v1",
  kraken_account_number: null,
  codes: ["account_failed_validation", "invalid_phone_number"]
}

const position = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const

const listEvents = HttpApiEndpoint.get("listEvents", "/v1/data-import/events/", {
  query: Schema.Struct({
    after: Schema.optionalKey(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
    limit: Schema.optionalKey(wholeNumber(1, mostEvents)),
    wait: Schema.optionalKey(wholeNumber(0, longestWait)),
    import_supplier: Schema.optionalKey(plainText),
    name: Schema.optionalKey(oneOf(AnyEventName.literals))
  }),
  success: events,
  error: errorBodies(["request_failed_validation", "not_found", "events_pruned", ...anyProtected])
})
  .annotateMerge(
    operation(
      "List events",
      "The events of the organisation after a position, the oldest first. Store `next_after` and send " +
        "it as `after`: no event is ever stored behind it. With `wait`, an answer without events waits " +
        "for one.",
      {
        parameters: {
          after: {
            description:
              "Only events after this position: the next_after of the answer before. From the oldest " +
              "event that is kept if it is omitted. More than the newest position is a 400.",
            schema: position,
            example: 48_211
          },
          limit: {
            description: "The most events to answer.",
            schema: {
              type: "integer",
              minimum: 1,
              maximum: mostEvents,
              default: defaultEventLimit
            },
            example: 500
          },
          wait: {
            description: "How many seconds to wait for an event where there is none.",
            schema: { type: "integer", minimum: 0, maximum: longestWait, default: 0 },
            example: longestWait
          },
          import_supplier: {
            description:
              "Only events of this supplier. One that is unknown or not the caller's is a 404.",
            schema: { type: "string", maxLength: supplierCodeLength },
            example: sampleKey.import_supplier
          },
          name: {
            description: "Only events of this name.",
            schema: { type: "string", enum: AnyEventName.literals },
            example: "data_import.import_process.complete-v1"
          }
        },
        answers: {
          200: {
            two: {
              summary: "An account was created, another one failed",
              value: { events: [ofImport, failed], next_after: 48_213 }
            },
            none: { summary: "Nothing has happened", value: { events: [], next_after: 48_213 } }
          }
        }
      }
    )
  )
  .pipe(requires("import:read"))

/** What the events service serves. */
export const EventGroup = HttpApiGroup.make("events", { topLevel: true })
  .add(listEvents)
  .annotateMerge(
    OpenApi.annotations({
      title: "Events",
      description: "What happened to the imports and batches of an organisation, in one order."
    })
  )
