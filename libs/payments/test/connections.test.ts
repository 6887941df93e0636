/** Connections that fail before there is any HTTP, on real sockets. */
import { createServer as createHttpServer } from "node:http"
import { createServer, type AddressInfo, type Server } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import * as PaymentVendors from "../src/PaymentVendors.ts"
import { byCard, byMandate, settings, verified } from "./scriptedVendors.ts"

const at = (url: string) =>
  PaymentVendors.layer.pipe(
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(
      ConfigProvider.layer(
        ConfigProvider.fromUnknown({
          ...settings,
          PAYMENT_STRIPE_URL: url,
          PAYMENT_GOCARDLESS_URL: url
        })
      )
    )
  )

const close = (server: Server) =>
  Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))

const portOf = (server: Server) =>
  Effect.callback<number>((resume) => {
    server.listen(0, "127.0.0.1", () =>
      resume(Effect.succeed((server.address() as AddressInfo).port))
    )
  })

const expectBoth = (url: string, failure: object) =>
  Effect.gen(function* () {
    for (const instruction of [byCard, byMandate]) {
      expect(yield* verified(instruction)).toMatchObject(failure)
    }
  }).pipe(Effect.provide(at(url)))

describe("a vendor connection", () => {
  it.effect("to an unknown host makes the vendor unreachable", () => {
    // No name has a label of 64 characters, so that no resolver needs to be asked.
    const host = `${"x".repeat(64)}.invalid`
    return expectBoth(`https://${host}`, { _tag: "VendorUnreachable", cause: "ENOTFOUND" })
  })

  it.effect("to a closed port makes the vendor unavailable", () =>
    Effect.gen(function* () {
      const server = createServer()
      const port = yield* portOf(server)
      yield* close(server)
      yield* expectBoth(`http://127.0.0.1:${port}`, {
        _tag: "VendorUnavailable",
        cause: "ECONNREFUSED"
      })
    })
  )

  const withoutTls = createHttpServer((_request, response) => response.end())
  const withoutCertificate = createTlsServer({})
  const closing = createServer((socket) => socket.resume().end())
  const resetting = createServer((socket) => socket.resetAndDestroy())
  const speaking = createServer((socket) => socket.resume().end("SSH-2.0-OpenSSH_9.9\r\n"))

  const servers: ReadonlyArray<readonly [string, Server, string, string]> = [
    ["without TLS at a port that should have it", withoutTls, "https", "VendorUnreachable"],
    ["without a certificate", withoutCertificate, "https", "VendorUnreachable"],
    ["that ends at once", closing, "http", "VendorUnavailable"],
    ["that is reset at once", resetting, "http", "VendorUnavailable"],
    ["that does not speak HTTP", speaking, "http", "VendorUnavailable"]
  ]

  it.effect.each(servers)("fails as documented to a server %s", ([, server, scheme, _tag]) =>
    Effect.gen(function* () {
      const port = yield* Effect.acquireRelease(portOf(server), () => close(server))
      yield* expectBoth(`${scheme}://127.0.0.1:${port}`, { _tag })
    })
  )

  it.effect("is closed if part of the response is left unread", () =>
    Effect.gen(function* () {
      const givenUp = yield* Deferred.make<void>()
      const server = createHttpServer((_request, response) => {
        response.on("close", () => Deferred.doneUnsafe(givenUp, Effect.void))
        response.writeHead(503).write("and so on")
      })
      const port = yield* Effect.acquireRelease(portOf(server), () => close(server))
      const asked = verified(byCard).pipe(Effect.provide(at(`http://127.0.0.1:${port}`)))
      expect(yield* asked).toMatchObject({ _tag: "VendorUnavailable", cause: "status 503" })
      yield* Deferred.await(givenUp)
    })
  )
})
