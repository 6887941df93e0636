/**
 * `/metrics` for Prometheus, on a port of its own and only where one is set: what a service counts
 * is nothing for its clients, and a port can be kept from them where a path cannot.
 */
import { createServer } from "node:http"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { NodeHttpServer } from "@effect/platform-node"

const contentType = "text/plain; version=0.0.4; charset=utf-8"

/** Serves `text` until the scope ends; gives the port, which is a free one for 0. */
export const serve = Effect.fnUntraced(function* (
  text: () => string,
  options: { readonly host: string; readonly port: number }
) {
  const listener = createServer()
  const server = yield* NodeHttpServer.make(() => listener, options)
  yield* server.serve(
    Effect.map(HttpServerRequest.HttpServerRequest, ({ method, url }) =>
      method === "GET" && url === "/metrics"
        ? HttpServerResponse.text(text(), { contentType })
        : HttpServerResponse.empty({ status: 404 })
    )
  )
  const address = listener.address()
  return typeof address === "object" && address !== null ? address.port : options.port
})
