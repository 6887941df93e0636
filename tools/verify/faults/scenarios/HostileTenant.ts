/**
 * One organisation at its worst: it waits on many connections, reads what is costly, leaves streams
 * unread, stages and empties its sandbox all the time, runs a batch whose payment vendor never
 * answers, and has webhooks that never answer. The p99 of single requests of another one is at most
 * three times what it is alone, and its batches and webhooks take at most twice as long, each plus
 * a second.
 */
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { Clock, Duration, Effect, type Scope } from "effect"
import { get as member } from "@data-import/domain/testing/wire"
import type * as Client from "@data-import/testbed/Client"
import { quantile } from "@data-import/testbed/Quantile"
import { reconfigured, System } from "@data-import/testbed/System"
import { linesOf, type SentLine } from "../BatchLines.ts"
import { runBatch } from "../BatchWork.ts"
import * as Load from "../Load.ts"
import * as Requests from "../Requests.ts"
import { type Scenario, seconds } from "../Scenario.ts"
import * as Session from "../Session.ts"
import * as WebhookReceiver from "../WebhookReceiver.ts"
import { begin } from "../Work.ts"

const base = "/v1/data-import"

/**
 * Requests of the hostile organisation at once, of each kind, and the pause of each between two.
 * The pauses leave processor time: what is measured is what the organisation holds, not how much
 * the machine computes, which only a rate limit bounds.
 */
const waits = 130
const reads = 12
const stagings = 8
const resets = 12
const unreadStreams = 60
const pause = Duration.seconds(1)
const webhooks = 10

/** So that the waits would take all of the gateway. */
const limits = { MAX_REQUESTS_IN_PROGRESS: "100", MAX_REQUESTS_WAITING: "100" }

const lineOf = (text: object): SentLine => ({
  text: JSON.stringify(text),
  outcome: "FAILED",
  code: null,
  account: null,
  isStaged: false
})

/** Lines with a hundred unknown fields each, all of different names. */
const unknownFields = (count: number): ReadonlyArray<SentLine> =>
  Array.from({ length: count }, (_, line) =>
    lineOf({
      external_account_number: `U-${line}`,
      ...Object.fromEntries(Array.from({ length: 100 }, (_, field) => [`x${line}_${field}`, 1]))
    })
  )

/** A receiver that never answers, until the scope ends. */
const silent: Effect.Effect<string, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(() => {})
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ),
  (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
)

const endlessly = (sender: Session.Session, count: number, request: () => Client.Request) => {
  const once = Effect.andThen(Effect.ignore(sender.send(request())), Effect.sleep(pause))
  return Effect.forEach(Array.from({ length: count }), () =>
    Effect.forkScoped(Effect.forever(once))
  )
}

/** Streams that begin and are never read, until the scope ends. */
const unread = Effect.fnUntraced(function* ({ token }: Session.Session, path: string) {
  const { port } = yield* System
  const headers = { authorization: `Token ${token}` }
  yield* Effect.forEach(Array.from({ length: unreadStreams }), () =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const open = request({ port, path, headers, agent: false })
        // A refused stream is what the scenario wants to see.
        return open
          .on("response", (answer) => answer.pause())
          .on("error", () => {})
          .end()
      }),
      (open) => Effect.sync(() => open.destroy())
    )
  )
})

/** Does all of it until the scope ends. Returns once its batches run. */
const attack = Effect.gen(function* () {
  const { random, sandboxOf } = yield* System
  const work = yield* begin()
  const { tenant } = work
  const flood = yield* Session.open(tenant, Infinity)
  const url = yield* silent
  yield* Effect.forEach(Array.from({ length: webhooks }), () =>
    WebhookReceiver.register(tenant, url)
  )
  const accounts = linesOf(random, "H", 200)
  yield* Effect.flatMap(runBatch(work, "IMPORT", accounts), (batch) => batch.ended)
  const broken = yield* runBatch(work, "IMPORT", unknownFields(500))
  yield* broken.ended
  const numbers = accounts.flatMap(({ account }) => (account === null ? [] : [account.number]))
  const slow = numbers.map((number) =>
    lineOf({
      external_account_number: number,
      ...Requests.instructionBody(number),
      reference: `pm_slow_${number}`
    })
  )
  yield* runBatch(work, "PAYMENT_INSTRUCTIONS", slow)
  const get = (path: string) => (): Client.Request => ({ method: "GET", path: `${base}/${path}` })
  let staged = 0
  const { answer } = yield* flood.settle(get("events/?limit=1000")())
  const after = String(member(answer.json, "next_after"))
  const never = `name=data_import.batch.cancelled-v1&after=${after}`
  yield* endlessly(flood, waits, get(`events/?${never}&%77ait=20`))
  yield* endlessly(flood, reads, get(`batches/${broken.id}/problems/`))
  yield* endlessly(flood, reads, get(`batches/${broken.id}/results/?outcome=ALREADY`))
  const list = `all-account-import-processes/${tenant.supplier}/?state=SKIPPED`
  yield* endlessly(flood, reads, get(list))
  yield* unread(flood, `${base}/batches/${broken.id}/results/`)
  const sandbox = yield* Session.open(yield* sandboxOf(tenant), Infinity)
  const reset = { method: "POST", path: `${base}/sandbox/reset/` } as const
  yield* endlessly(sandbox, resets, () => reset)
  yield* endlessly(flood, stagings, () => Requests.stage(tenant, `F-${staged++}`, "flood"))
})

/** What another organisation gets: its p99 in milliseconds, and the seconds of the others. */
const victim = Effect.fnUntraced(function* (lastsSeconds: number) {
  const { random } = yield* System
  const work = yield* begin()
  const { session, tenant } = work
  let index = 0
  const samples = yield* Load.closed(
    session,
    () => Requests.stage(tenant, `V-${index++}`, "victim"),
    { sideBySide: 2, pause: Duration.millis(20), lasts: Duration.seconds(lastsSeconds) }
  )
  for (const { code, status } of samples) {
    if (status !== 201) work.findings.add("wrong", `a request was answered ${status} ${code}`)
  }
  const batch = yield* seconds(
    Effect.flatMap(runBatch(work, "IMPORT", linesOf(random, "B", 100)), (each) => each.ended)
  )
  const { received, url } = yield* WebhookReceiver.make(random)
  yield* WebhookReceiver.register(tenant, url)
  const began = yield* Clock.currentTimeMillis
  yield* session.settle(Requests.stage(tenant, "W-1", "webhook"))
  yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => received.length > 0 }).pipe(
    Effect.timeout("2 minutes")
  )
  const webhook = ((yield* Clock.currentTimeMillis) - began) / 1_000
  const p99 = quantile(
    samples.map(({ millis }) => millis),
    0.99
  )
  return { p99, batch, webhook, findings: work.findings, acknowledged: samples.length }
}, Effect.scoped)

export const hostileTenant: Scenario = {
  name: "hostile-tenant",
  about: "an organisation beside one that takes everything it can get",
  short: { kills: 0, count: 10 },
  long: { kills: 0, count: 60 },
  run: Effect.fnUntraced(function* ({ count }) {
    yield* reconfigured("gateway", { ...limits, MAX_REQUESTS_PER_ADDRESS: "100" })
    yield* victim(2)
    const alone = yield* victim(count)
    const beside = yield* Effect.scoped(Effect.andThen(attack, victim(count)))
    return {
      acknowledged: alone.acknowledged + beside.acknowledged,
      findings: beside.findings,
      figures: [
        { name: "p99 alone", value: alone.p99, unit: "ms" },
        { name: "p99 beside", value: beside.p99, unit: "ms", atMost: 3 * alone.p99 + 1_000 },
        { name: "batch alone", value: alone.batch, unit: "s" },
        { name: "batch beside", value: beside.batch, unit: "s", atMost: 2 * alone.batch + 1 },
        { name: "webhook alone", value: alone.webhook, unit: "s" },
        { name: "webhook beside", value: beside.webhook, unit: "s", atMost: 2 * alone.webhook + 1 }
      ]
    }
  })
}
