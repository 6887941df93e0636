/** The line between a service and its database, which a test can cut. */
import { connect, createServer, type Server, type Socket } from "node:net"
import { Context, Effect, Layer, Redacted } from "effect"

export class Line extends Context.Service<
  Line,
  {
    /** The database at the far end, for the service. */
    readonly url: Redacted.Redacted
    /** Ends what is connected, and refuses what wants to. */
    readonly cut: Effect.Effect<void>
    readonly mend: Effect.Effect<void>
    /** Leads new connections to this server; those that are there stay where they are. */
    readonly leadTo: (url: Redacted.Redacted) => Effect.Effect<void>
  }
>()("@data-import/postgres/testing/Line") {}

const listening = (server: Server, port: number) =>
  new Promise<number>((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, "127.0.0.1", () => {
      const address = server.address()
      resolve(typeof address === "object" && address !== null ? address.port : 0)
    })
  })

/** A server that forwards to the present target, and what is connected through it. */
const forwarding = (far: { target: URL }) => {
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const { hostname, port } = far.target
    const onward = connect({ host: hostname, port: Number(port) })
    for (const [one, other] of [
      [near, onward],
      [onward, near]
    ] as const) {
      open.add(one)
      one.on("error", () => one.destroy())
      one.on("close", () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  return { open, server }
}

/** A line to the database at `url`. */
export const lineTo = (url: Redacted.Redacted): Layer.Layer<Line> =>
  Layer.effect(
    Line,
    Effect.acquireRelease(
      Effect.promise(async () => {
        const near = new URL(Redacted.value(url))
        const far = { target: new URL(near) }
        const { open, server } = forwarding(far)
        const port = await listening(server, 0)
        near.port = String(port)
        const cut = () => {
          const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
          for (const socket of open) socket.destroy()
          return closed
        }
        return Line.of({
          url: Redacted.make(near.href),
          cut: Effect.promise(cut),
          mend: Effect.promise(() => listening(server, port)).pipe(Effect.asVoid),
          leadTo: (other) => Effect.sync(() => void (far.target = new URL(Redacted.value(other))))
        })
      }),
      ({ cut }) => cut
    )
  )

/** The database is away while the effect runs. */
export const away = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Line, ({ cut, mend }) =>
    Effect.acquireUseRelease(
      cut,
      () => effect,
      () => mend
    )
  )
