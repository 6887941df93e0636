/** Streamed answers of a request whose rights end. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import * as Answer from "../src/http/Answer.ts"
import { bytesOf, open } from "../testing/RawClient.ts"
import { route, start } from "./TestService.ts"

const acme = OrganisationName.make("acme")

/** A stream of lines that the test offers; each names the organisation that it is read for. */
const streaming = Effect.gen(function* () {
  const lines = yield* Queue.unbounded<string>()
  const rights = { allowed: true, checks: 0 }
  const line = Effect.gen(function* () {
    const text = yield* Queue.take(lines)
    return `${text} ${(yield* RequestFacts.Current)?.organisation ?? "nobody"}`
  })
  const run = () =>
    Effect.gen(function* () {
      const stillAllowed = Effect.sync(() => {
        rights.checks += 1
        return rights.allowed
      })
      yield* RequestFacts.note({ organisation: acme, stillAllowed })
      return yield* Answer.ndjson(Stream.fromEffectRepeat(line), {})
    })
  const { port } = yield* start({ routes: [route("GET", "/lines/", run)] })
  const connection = yield* open(port)
  yield* Queue.offer(lines, "first")
  connection.send(bytesOf({ path: "/lines/" }))
  const hear = (text: string) => Effect.promise(() => connection.until(text))
  const say = (text: string) => Queue.offer(lines, text)
  yield* hear("first acme")
  return { connection, hear, rights, say }
})

describe("a streamed answer", () => {
  it.effect("is checked every 30 seconds, and goes on while its rights hold", () =>
    Effect.gen(function* () {
      const { hear, rights, say } = yield* streaming
      yield* say("soon")
      yield* hear("soon acme")
      expect(rights.checks).toBe(0)
      yield* TestClock.adjust("30 seconds")
      yield* say("later")
      yield* hear("later acme")
      expect(rights.checks).toBe(1)
    })
  )

  it.effect("is cut without an end when its rights have ended", () =>
    Effect.gen(function* () {
      const { connection, rights, say } = yield* streaming
      rights.allowed = false
      yield* TestClock.adjust("30 seconds")
      yield* say("secret")
      const rest = yield* Effect.promise(() => connection.rest())
      expect(rest).not.toContain("secret")
      expect(rest.endsWith("0\r\n\r\n"), "the end of the answer").toBe(false)
    })
  )
})
