/** The gateway on a free port, and services behind it with the answers of a test. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { ConfigProvider, Context, Effect, Layer, type Scope } from "effect"
import { Output } from "@data-import/server/observability/Log"
import { Listening } from "@data-import/server/lifecycle/Service"
import { layer } from "../src/Gateway.ts"

export interface Behind {
  readonly port: number
  readonly url: string
  readonly server: Server
}

const listen = (server: Server, port: number) =>
  Effect.callback<void>((resume) => {
    server.listen(port, "127.0.0.1", () => resume(Effect.void))
  })

const close = (server: Server) =>
  Effect.sync(() => {
    server.close()
    server.closeAllConnections()
  })

/** A service behind the gateway; it ends with the scope. */
export const behind = (
  answer: RequestListener,
  port = 0
): Effect.Effect<Behind, never, Scope.Scope> =>
  Effect.gen(function* () {
    const server = createServer(answer)
    yield* Effect.acquireRelease(listen(server, port), () => close(server))
    const bound = (server.address() as AddressInfo).port
    return { port: bound, url: `http://127.0.0.1:${bound}`, server }
  })

/** A port on which nobody listens. One that was free a moment ago may be another test's by now. */
export const nobody = 1

/** The gateway with these settings; all services are at `url` unless they say otherwise. */
export const listening = Effect.fnUntraced(function* (
  url: string,
  settings: Readonly<Record<string, string>> = {},
  log: (lines: string) => void = () => {}
) {
  const names = ["ACCOUNT_IMPORT", "POST_IMPORT", "BATCHES", "EVENTS", "BOARD", "QUERY", "AUTH"]
  const services = Object.fromEntries(names.map((name) => [`${name}_URL`, url]))
  const config = ConfigProvider.fromUnknown({ PORT: "0", ...services, ...settings })
  const built = yield* Layer.build(
    Layer.fresh(layer).pipe(
      Layer.provide([ConfigProvider.layer(config), Layer.succeed(Output, log)])
    )
  )
  return Context.get(built, Listening)
})

/** The port of such a gateway. */
export const gateway = (url: string, settings: Readonly<Record<string, string>> = {}) =>
  Effect.map(listening(url, settings), ({ port }) => port)

/** The whole body of a request that came in behind. */
export const bodyOf = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
