/** A server that answers bytes with given bytes. */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net"
import { Effect } from "effect"
import type { Target } from "../Wire.ts"

export interface Behaviour {
  /** Called with the bytes received so far on the connection, and the connection. */
  readonly onBytes: (bytes: string, socket: Socket) => void
  readonly onEnd?: (bytes: string, socket: Socket) => void
  /** Called before another client's health check is answered. */
  readonly onHealth?: () => void
}

const close = (server: Server, sockets: ReadonlySet<Socket>) =>
  Effect.sync(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })

/** Listens for as long as the scope. Another client's check of its health is answered at once. */
export const behaving = ({
  onBytes,
  onEnd = (_, socket) => socket.end(),
  onHealth = () => {}
}: Behaviour) =>
  Effect.gen(function* () {
    const sockets = new Set<Socket>()
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let bytes = ""
      sockets.add(socket)
      socket.on("error", () => {})
      socket.on("data", (data) => {
        bytes += data.toString("latin1")
        if (bytes.startsWith("GET /health/live ")) {
          onHealth()
          return void socket.end(answer(200, "{}"))
        }
        onBytes(bytes, socket)
      })
      socket.on("end", () => onEnd(bytes, socket))
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () => close(server, sockets)
    )
    const target: Target = {
      port: (server.address() as AddressInfo).port,
      tokenOf: (who) => (who === "nobody" ? null : `the-token-of-${who}`)
    }
    return target
  })

/** An answer as bytes. */
export const answer = (
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {}
): string => {
  const all = { "content-length": String(Buffer.byteLength(body)), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} X\r\n${lines.join("")}\r\n${body}`
}
