/**
 * `data-import events tail`: prints events as they happen.
 * Source: docs/contract/events.md.
 */
import { Console, Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { DataImport, type EventFeed, type ImportEvent } from "@data-import/client/effect"
import { announce, Json, plain } from "@data-import/terminal/Answer"
import { onServicePatiently } from "../connection/Connection.ts"

const lineOf = (event: ImportEvent): string =>
  [
    event.position,
    event.at,
    event.name,
    event.import_supplier,
    event.external_account_number,
    event.kraken_account_number,
    event.batch_id,
    event.codes.length === 0 ? null : event.codes.join(",")
  ]
    .filter((part) => part !== null)
    .map(plain)
    .join("  ")

/** The position of the newest event, which is in the refusal of any later position. */
const newest = Effect.gen(function* () {
  const { events } = yield* DataImport
  const after = Number.MAX_SAFE_INTEGER
  return yield* events.listEvents({ query: { after } }).pipe(
    Effect.map(({ next_after }) => next_after),
    Effect.catchIf(
      (error) => error.code === "request_failed_validation",
      (error) => {
        const limit = error.errors.find(({ attr }) => attr === "after")?.parameters?.limit
        return typeof limit === "number" ? Effect.succeed(limit) : Effect.fail(error)
      }
    )
  )
})

const tail = Command.make(
  "tail",
  {
    supplier: Flag.String("supplier").pipe(
      Flag.withMetavar("CODE"),
      Flag.withDescription("Only events of this supplier"),
      Flag.optional
    ),
    name: Flag.String("name").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Only events of this name"),
      Flag.optional
    ),
    after: Flag.Int("after").pipe(
      Flag.withMetavar("POSITION"),
      Flag.withDescription("Begin after this position, 0 for the oldest; now unless given"),
      Flag.optional
    ),
    untilNow: Flag.Boolean("until-now").pipe(
      Flag.withDescription("End with the newest event, and do not wait for others"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ after, name, supplier, untilNow }) {
    const { events } = yield* DataImport
    const json = yield* Json
    const last = yield* newest
    const from = Option.getOrElse(after, () => last)
    yield* announce(`Events after ${from}; the newest is ${last}`)
    const options = {
      // The oldest kept event may be later than the first.
      ...(from > 0 && { after: from }),
      ...(Option.isSome(supplier) && { import_supplier: supplier.value }),
      // The service refuses unknown names.
      ...(Option.isSome(name) && { name: name.value })
    } as Parameters<EventFeed["follow"]>[0]
    const found = untilNow ? events.read(options) : events.follow(options)
    yield* Stream.runForEach(found, (event) =>
      Console.log(json ? JSON.stringify(event) : lineOf(event))
    )
  }, onServicePatiently)
).pipe(
  Command.withDescription(
    "Print events as they happen, each on a line: position, time, name, and what it is about. " +
      "With --json each line is a JSON object. Ctrl-C ends it."
  ),
  Command.withShortDescription("Print events as they happen"),
  Command.withExamples([
    { command: "data-import events tail", description: "Print what happens from now on" },
    {
      command: "data-import events tail --supplier ACME_LEGACY --after 0 --until-now --json",
      description: "Print all that has happened"
    }
  ])
)

export const events = Command.make("events").pipe(
  Command.withDescription("What happens to imports and batches"),
  Command.withSubcommands([tail])
)
