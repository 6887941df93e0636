/**
 * Request smuggling: whatever framing the bytes of a client claim, a service behind the gateway
 * gets no request that the client did not send, and no client gets another one's answer.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  type FramingAttack,
  framingAttacks,
  hiddenPath,
  isInDoubt,
  methods,
  partsOf
} from "@data-import/server/testing/FramingAttacks"
import { bytesOf, type Connection, open, request } from "@data-import/server/testing/RawClient"
import { behind, bodyOf, gateway } from "./gatewayService.ts"

const path = "/v1/data-import/validate-account/"
/** The body of a PUT to it is forwarded while it arrives. */
const uploadPath = "/v1/data-import/batches/b1/lines/"

interface Sending {
  readonly path: string
  readonly attack: FramingAttack
  readonly method: string
  /** Whether its parts are sent one after the other, each when the previous one was read. */
  readonly split: boolean
}

const sendingsOf = (method: string, path: string): ReadonlyArray<Sending> =>
  framingAttacks.flatMap((attack) =>
    [true, false].map((split) => ({ attack, method, path, split }))
  )

/** Another client's later request: its answer shows that the earlier bytes were read. */
const settle = (port: number, name: string) =>
  Effect.map(request(port, { method: "POST", path: `${path}?${name}`, body: "{}" }), (answer) => {
    expect(answer.body, `the answer to ${name}`).toBe(`POST ${path}?${name}`)
  })

const send = (connection: Connection, port: number, { attack, method, path, split }: Sending) =>
  Effect.gen(function* () {
    const parts = partsOf(attack, method, `${path}?sent`)
    if (!split) return connection.send(Buffer.concat(parts))
    for (const part of parts) {
      connection.send(part)
      yield* settle(port, "between")
    }
  })

/** The requests of an attack that reached the service: method and path of each. */
const received = Effect.fnUntraced(function* (port: number, seen: Array<string>, sending: Sending) {
  seen.length = 0
  const connection = yield* open(port)
  yield* send(connection, port, sending)
  yield* settle(port, "first")
  connection.send(bytesOf({ path: "/health/live" }))
  connection.end()
  const answers = yield* Effect.promise(() => connection.rest())
  yield* settle(port, "second")
  return {
    requests: seen.filter((line) => !/\?(between|first|second)$/.test(line)),
    answers: answers.match(/^HTTP\/1\.1 [2-5]\d\d/gm) ?? []
  }
}, Effect.scoped)

describe("a request whose framing is in doubt", () => {
  it("comes in at least 60 forms", () => {
    expect(framingAttacks.length).toBeGreaterThanOrEqual(60)
    expect(new Set(framingAttacks.map(({ name }) => name)).size).toBe(framingAttacks.length)
    expect(framingAttacks.filter((attack) => !isInDoubt(attack))).toHaveLength(28)
  })

  it.live.each([...methods.map((method) => [method, path] as const), ["PUT", uploadPath] as const])(
    "reaches the service at most as often as it was sent: %s %s",
    ([method, path]) =>
      Effect.gen(function* () {
        const seen: Array<string> = []
        const { url } = yield* behind((incoming, answer) => {
          const line = `${incoming.method} ${incoming.url}`
          if (incoming.url === "/health/ready") return void answer.end("{}")
          seen.push(line)
          // There is no answer to a body that breaks off.
          void bodyOf(incoming).then(
            () => answer.end(line),
            () => answer.destroy()
          )
        })
        const port = yield* gateway(url)
        for (const sending of sendingsOf(method, path)) {
          const { attack, split } = sending
          const name = `${attack.name}, ${method}, ${split ? "split" : "whole"}`
          const { answers, requests } = yield* received(port, seen, sending)
          const most = attack.requests ?? 1
          expect(requests.length, `${name}: ${requests.join(", ")}`).toBeLessThanOrEqual(most)
          if (most === 1) expect(requests, name).not.toContain(`POST ${hiddenPath}`)
          expect(answers.length, name).toBeGreaterThan(0)
        }
      })
  )
})
