/**
 * Clients that send or read as slowly as they are allowed to, without a token and from the same
 * address as all others. They cost the gateway connections, but do not cost other clients an
 * answer.
 */
import { readFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { Duration, Effect } from "effect"
import * as Load from "../Load.ts"
import * as Requests from "../Requests.ts"
import type { Scenario } from "../Scenario.ts"
import { begin } from "../Work.ts"
import { reconfigured, System } from "@data-import/testbed/System"

/** What each kind sends first, and then repeatedly; null if it only stops reading. */
interface Kind {
  readonly first: string
  readonly then: string | null
}

const post = (path: string, framing: string, begun: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: data-import.test\r\ncontent-type: application/json\r\n` +
  `${framing}\r\n\r\n${begun}`

/** The first part of a slow body, and the next ones. Together they soon exceed the budget. */
const begun = `{"payload": "${"x".repeat(30_000)}`
const part = "x".repeat(1_000)

const validate = "/v1/data-import/validate-account/"

const kinds: ReadonlyArray<Kind> = [
  { first: post(validate, "content-length: 10000000", begun), then: part },
  { first: post(validate, "content-length: 10000000", begun), then: "" },
  {
    first: post(
      validate,
      "transfer-encoding: chunked",
      `${begun.length.toString(16)}\r\n${begun}\r\n`
    ),
    then: `${part.length.toString(16)}\r\n${part}\r\n`
  },
  { first: post("/v1/graphql/", "content-length: 60000", "{"), then: " " },
  { first: "GET /openapi.json HTTP/1.1\r\nhost: data-import.test\r\n\r\n", then: null },
  { first: "GET /v1/data-import/limits/ HTTP/1.1\r\nhost: data-import.test\r\nx: ", then: "y" }
]

const budgetMiB = 64

/** The memory of a gateway apart from bodies: its own size, and some kilobytes per connection. */
const otherMegabytes = 400

/** A slow client that connects again when its connection ends. */
class SlowClient {
  readonly #port: number
  readonly #kind: Kind
  #socket: Socket | undefined

  constructor(port: number, kind: Kind) {
    this.#port = port
    this.#kind = kind
    this.#open()
  }

  /** Sends a little more, or connects again. */
  goOn(): void {
    if (this.#socket === undefined) return this.#open()
    if (this.#kind.then) this.#socket.write(this.#kind.then)
  }

  end(): void {
    this.#socket?.destroy()
  }

  #open(): void {
    const socket = connect({ port: this.#port, host: "127.0.0.1" })
    if (this.#kind.then === null) socket.pause()
    else socket.resume()
    // A slow client may be disconnected; it connects again.
    socket.on("error", () => {})
    socket.once("close", () => (this.#socket = undefined))
    socket.write(this.#kind.first)
    this.#socket = socket
  }
}

/** Resident memory as Linux counts it. */
const residentBytes = (pid: number): number => {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1]) * 1024
}

const tickMillis = 50

/** All clients connect within a second, and then each sends a little every half second. */
const arrivalTicks = 20
const pauseTicks = 10

const manySlowClients = (port: number, count: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const clients: Array<SlowClient> = []
      let ticks = 0
      const tick = () => {
        const arrived = Math.ceil((count * Math.min(++ticks, arrivalTicks)) / arrivalTicks)
        while (clients.length < arrived) {
          clients.push(new SlowClient(port, kinds[clients.length % kinds.length] as Kind))
        }
        if (ticks % pauseTicks === 0) clients.forEach((client) => client.goOn())
      }
      return { clients, timer: setInterval(tick, tickMillis) }
    }),
    ({ clients, timer }) =>
      Effect.sync(() => {
        clearInterval(timer)
        clients.forEach((client) => client.end())
      })
  )

const lasts = Duration.seconds(20)

export const slowClients: Scenario = {
  name: "slow-clients",
  about: "clients that send and read as slowly as they may, and an honest one beside them",
  short: { kills: 0, count: 300 },
  long: { kills: 0, count: 2_000 },
  run: Effect.fnUntraced(function* ({ count }) {
    const { services } = yield* System
    yield* reconfigured("gateway", { BODY_MEMORY_MIB: String(budgetMiB) })
    const { findings, session, tenant } = yield* begin()
    const { gateway } = services
    yield* manySlowClients(gateway.port, count)
    let most = 0
    const measuring = Effect.sync(() => {
      most = Math.max(most, residentBytes(gateway.pid))
    }).pipe(Effect.delay("250 millis"), Effect.forever)
    yield* Effect.forkScoped(measuring)
    let sent = 0
    const request = () =>
      sent++ % 2 === 0
        ? Requests.stage(tenant, `S-${sent}`, "honest")
        : Requests.status(tenant, `S-${sent - 1}`)
    const pause = Duration.millis(100)
    const samples = yield* Load.closed(session, request, { sideBySide: 1, lasts, pause })
    for (const { code, status } of samples) {
      if (status >= 200 && status < 300) continue
      findings.add("wrong", `the honest client got ${status} ${code}`)
    }
    const slowest = Math.max(...samples.map(({ millis }) => millis))
    const limit = budgetMiB + otherMegabytes
    return {
      acknowledged: samples.length / 2,
      findings,
      figures: [
        { name: "slow clients", value: count, unit: "" },
        { name: "honest answers", value: samples.length, unit: "", atLeast: 20 },
        { name: "slowest of them", value: slowest, unit: "ms", atMost: 1_000 },
        { name: "gateway", value: Math.round(most / 1e6), unit: "MB", atMost: limit }
      ]
    }
  })
}
