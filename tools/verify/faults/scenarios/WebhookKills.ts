/**
 * SIGKILL of the events service and of PostgreSQL while events are sent to a webhook, whose
 * receiver sometimes fails. Every event is received, and those of each account in order, apart from
 * repetitions.
 */
import { Duration, Effect, Option } from "effect"
import { System } from "@data-import/testbed/System"
import { Findings } from "../Findings.ts"
import { killPostgres, killService, type Scenario } from "../Scenario.ts"
import type { Received } from "../WebhookReceiver.ts"
import * as WebhookReceiver from "../WebhookReceiver.ts"

/** Seconds in which another instance must continue with the webhook of a dead one. */
const takeoverLimit = 30

/** Events of each account. */
const eventsOfAccount = 10

/** How long the scenario waits for the last event. */
const patience = Duration.minutes(15)

/** Stores this many events of a supplier, in the order of the accounts' changes. */
const storeEvents = Effect.fnUntraced(function* (supplier: string, count: number) {
  const { database } = yield* System
  const { run, sql } = database
  const accounts = Math.ceil(count / eventsOfAccount)
  yield* run(sql`
    insert into import_processes (supplier, external_account_number, payload, staged_at)
    select ${supplier}, 'W' || number, '{}', now() from generate_series(1, ${accounts}) as number`)
  for (let round = 0; round < eventsOfAccount; round++) {
    yield* run(sql`
      insert into outbox (at, name, import_id)
      select now(), 'data_import.import_process.staged-v1', id from import_processes
      where supplier = ${supplier} order by id`)
  }
  return accounts * eventsOfAccount
})

const verify = (received: ReadonlyArray<Received>, count: number, findings: Findings): void => {
  const positions = new Set(received.map(({ position }) => position))
  for (let position = 1; position <= count; position++) {
    if (!positions.has(position)) findings.add("lost", `event ${position} was not received`)
  }
  for (const [account, events] of Map.groupBy(received, (event) => event.account)) {
    const first = [...new Set(events.map(({ position }) => position))]
    const isInOrder = first.every((position, index) => position > (first[index - 1] ?? 0))
    if (!isInOrder) findings.add("wrong", `the events of ${account} came as ${first.join(", ")}`)
  }
  const ids = new Map(received.map(({ id, position }) => [id, position]))
  if (ids.size !== positions.size) findings.add("wrong", "the ids of events are not their own")
}

export const webhookKills: Scenario = {
  name: "webhook-kills",
  about: "SIGKILL of the events service and PostgreSQL while events are sent to a webhook",
  short: { kills: 2, count: 2_000 },
  long: { kills: 20, count: 100_000 },
  run: Effect.fnUntraced(function* ({ count: wanted, kills }) {
    const { freshTenant, random } = yield* System
    const tenant = yield* freshTenant
    const findings = new Findings()
    const { received, url } = yield* WebhookReceiver.make(random)
    const found = yield* WebhookReceiver.register(tenant, url)
    const count = yield* storeEvents(tenant.supplier, wanted)
    const distinct = () => new Set(received.map(({ position }) => position)).size
    const until = (events: number) =>
      Effect.repeat(Effect.sleep(Duration.millis(50)), { until: () => received.length >= events })
    const recoveries: Array<number> = []
    for (let kill = 0; kill < kills; kill++) {
      yield* until(Math.floor((count * kill) / (kills + 1)) + random.between(1, 50))
      yield* kill % 2 === 0 ? killService("events") : killPostgres
      const [seconds] = yield* Effect.timed(until(received.length + 1))
      recoveries.push(Duration.toSeconds(seconds))
    }
    const [rest] = yield* Effect.timed(
      Effect.repeat(Effect.sleep(Duration.millis(200)), {
        until: () => received.length >= count && distinct() >= count
      }).pipe(Effect.timeoutOption(patience))
    )
    verify(received, count, findings)
    const webhook = Option.getOrThrow(yield* found)
    if (webhook.disabledBy !== null) findings.add("wrong", "the webhook was disabled")
    const figures = [
      { name: "events", value: count, unit: "" },
      { name: "sent again", value: received.length - distinct(), unit: "" },
      { name: "seconds after the last kill", value: Duration.toSeconds(rest), unit: "s" }
    ]
    return { acknowledged: count, findings, recoveries, recoveryLimit: takeoverLimit, figures }
  })
}
