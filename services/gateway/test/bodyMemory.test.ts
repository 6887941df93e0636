/**
 * The holders of the memory for bodies in the gateway: the organisation of a request's valid token,
 * and all requests without one together.
 */
import { readFileSync } from "node:fs"
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, Latch } from "effect"
import { bytesOf, open } from "@data-import/server/testing/RawClient"
import { layer as issue, TokenIssuer } from "@data-import/server/testing/TokenIssuer"
import { behind, bodyOf, listening } from "./gatewayService.ts"

const path = "/v1/data-import/validate-account/"
/** A request that the service does not answer. */
const heldPath = `${path}?held`
const mebibyte = 1024 * 1024

/** One holder gets at most half of this memory. */
const settings = { BODY_MEMORY_MIB: "24" }

/** A gateway in front of a service that reads whole bodies, and publishes these keys. */
const world = Effect.gen(function* () {
  const { jwksFile, tokenNaming } = yield* TokenIssuer
  const keys = readFileSync(jwksFile)
  const occupied = yield* Latch.make()
  const { url } = yield* behind((incoming, answer) => {
    answer.setHeader("content-type", "application/json")
    if (incoming.url === "/.well-known/jwks.json") return void answer.end(keys)
    const isHeld = incoming.url === heldPath
    void bodyOf(incoming).then(() => (isHeld ? occupied.openUnsafe() : answer.end("{}")))
  })
  const { port } = yield* listening(url, settings)
  const post = (token: string | undefined, mebibytes: number, target = path) =>
    bytesOf({
      method: "POST",
      path: target,
      headers: {
        "content-type": "application/json",
        ...(token !== undefined && { authorization: `Token ${token}` })
      },
      body: `"${"x".repeat(mebibytes * mebibyte)}"`
    })
  /** Sends a body that takes most of one holder's share, and that is not answered. */
  const occupy = Effect.fnUntraced(function* (token: string | undefined) {
    const connection = yield* open(port)
    connection.send(post(token, 9, heldPath))
    yield* occupied.await
  })
  const statusOf = Effect.fnUntraced(function* (token: string | undefined, address?: string) {
    const connection = yield* open(port, address)
    connection.send(post(token, 4))
    return (yield* Effect.promise(() => connection.receive())).status
  })
  return { occupy, statusOf, tokenNaming }
})

layer(issue, { excludeTestServices: true })((it) => {
  it.effect("all tokens of an organisation together get half of the memory for bodies", () =>
    Effect.gen(function* () {
      const { occupy, statusOf, tokenNaming } = yield* world
      yield* occupy(yield* tokenNaming("greedy"))
      expect(yield* statusOf(yield* tokenNaming("greedy"))).toBe(503)
      expect(yield* statusOf(yield* tokenNaming("honest"))).toBe(200)
      expect(yield* statusOf(undefined)).toBe(200)
    })
  )

  it.effect("requests without a valid token get half of it together", () =>
    Effect.gen(function* () {
      const { occupy, statusOf, tokenNaming } = yield* world
      const token = yield* tokenNaming("honest")
      yield* occupy(undefined)
      expect(yield* statusOf(undefined)).toBe(503)
      expect(yield* statusOf(undefined, "127.0.0.2")).toBe(503)
      const [head, claims, signature = ""] = token.split(".")
      const forged = `${head}.${claims}.${signature.slice(0, 40).split("").toReversed().join("")}`
      expect(yield* statusOf(`${forged}${signature.slice(40)}`)).toBe(503)
      expect(yield* statusOf("a.b.c")).toBe(503)
      expect(yield* statusOf(yield* tokenNaming("honest", Duration.hours(-1)))).toBe(503)
      expect(yield* statusOf(token)).toBe(200)
    })
  )
})
