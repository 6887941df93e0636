/**
 * `/metrics` for Prometheus, on a separate port. Metrics are not for clients, and a firewall can
 * block a port but not a path.
 */
import { createServer } from "node:http"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"

const contentType = "text/plain; version=0.0.4; charset=utf-8"

/** Serves `text` until the scope ends. Returns the port, which is a free one for 0. */
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
