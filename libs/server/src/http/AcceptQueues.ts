/**
 * More than one accept queue for a port. Node accepts one connection of each listening socket a
 * turn of its event loop, and a turn serves all connections that are ready. So beside hundreds of
 * busy connections, the queue of a single socket takes seconds to empty, and a new client waits
 * for its first answer all this time. Linux divides new connections between the sockets of a port.
 */
import type { Server } from "node:http"
import {
  type AddressInfo,
  createServer,
  type ListenOptions,
  type Server as NetServer
} from "node:net"
import { Effect } from "effect"
import { ServeError } from "effect/http/HttpServerError"

/** The sockets of a port. An idle one costs a file descriptor. */
const count = 64

/** Other systems give all connections to one socket, or refuse the option. */
const isDividing = process.platform === "linux"

const listen = (server: NetServer, options: ListenOptions): Effect.Effect<void, ServeError> =>
  Effect.callback((resume) => {
    const fail = (cause: Error) => resume(Effect.fail(new ServeError({ cause })))
    server.once("error", fail)
    server.listen(options, () => {
      server.off("error", fail)
      resume(Effect.void)
    })
  })

const close = (server: NetServer): Effect.Effect<void> =>
  Effect.callback((resume) => void server.close(() => resume(Effect.void)))

/**
 * The options with which the first socket of a port listens so that others may join it. Fails if
 * the port is taken, because Linux lets every process of the same user join it.
 */
export const first = Effect.fnUntraced(function* (address: {
  readonly host: string
  readonly port: number
}) {
  if (!isDividing) return address
  if (address.port !== 0) {
    const probe = createServer()
    yield* listen(probe, address)
    yield* close(probe)
  }
  return { ...address, reusePort: true }
})

/** Adds the other sockets to the port of a listening server. The answer closes all of them. */
export const addTo = Effect.fnUntraced(function* (server: Server, host: string) {
  const { port } = server.address() as AddressInfo
  const others = Array.from({ length: isDividing ? count - 1 : 0 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      server.emit("connection", socket)
    )
  )
  const closeAll = () => {
    for (const socket of [...others, server]) socket.close()
    server.closeAllConnections()
  }
  yield* Effect.forEach(others, (other) => listen(other, { host, port, reusePort: true }), {
    discard: true
  }).pipe(Effect.onError(() => Effect.sync(closeAll)))
  return { port, close: closeAll }
})
