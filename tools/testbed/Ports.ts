/**
 * Ports that a service can leave and take again. They lie below the range that the kernel uses for
 * outgoing connections. Otherwise a client's retry could take the port of a service that is down.
 */
import { randomInt } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { Effect } from "effect"

const lowest = 10_000

/** The first port for outgoing connections; if Linux does not report it, that of IANA. */
const firstOfOutgoing = (): number => {
  const file = "/proc/sys/net/ipv4/ip_local_port_range"
  if (!existsSync(file)) return 49_152
  const range = readFileSync(file, "utf8")
  return Number(range.trim().split(/\s+/)[0])
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })

/** A port of 127.0.0.1 that is free now. */
export const freePort: Effect.Effect<number> = Effect.promise(async () => {
  const end = Math.max(firstOfOutgoing(), lowest + 1_000)
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(lowest, end)
    if (await isFree(port)) return port
  }
  throw new Error("No free port was found")
})

/** Whether this port of 127.0.0.1 accepts connections. */
export const listens = (port: number): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const socket = connect({ host: "127.0.0.1", port })
    const settle = (answer: boolean) => {
      socket.destroy()
      resume(Effect.succeed(answer))
    }
    socket.once("connect", () => settle(true))
    socket.once("error", () => settle(false))
    return Effect.sync(() => socket.destroy())
  })
