/**
 * A TCP proxy that misbehaves on demand, between any two parts of the system. It does not interpret
 * the bytes. What the far side sends after the near side has sent something counts as an answer, so
 * the proxy can lose an answer that was already produced.
 */
import { connect, createServer, type Server, type Socket } from "node:net"
import { Effect, type Scope } from "effect"

export type Mode =
  | { readonly _tag: "Pass" }
  /** Every chunk is delayed by this many milliseconds, in both directions. */
  | { readonly _tag: "Slow"; readonly millis: number }
  /** Nothing gets through and no connection ends. What was sent arrives when the mode ends. */
  | { readonly _tag: "Silent" }
  /** Every connection is reset, and so is every new one. */
  | { readonly _tag: "Reset" }
  /** Every connection is reset, and the port is closed. */
  | { readonly _tag: "Refuse" }
  /** This share of the answers is lost: the connection is reset in place of them. */
  | { readonly _tag: "Lossy"; readonly share: number }

/** One direction of a connection: the chunks in order, each with the time when it may go on. */
class Direction {
  readonly #to: Socket
  readonly #queue: Array<{ readonly due: number; readonly chunk: Buffer | null }> = []
  #timer: NodeJS.Timeout | undefined
  #held = false

  constructor(to: Socket) {
    this.#to = to
  }

  /** `null` ends the connection after what came before it. */
  add(chunk: Buffer | null, millis: number): void {
    if (millis === 0 && !this.#held && this.#queue.length === 0) return this.#pass(chunk)
    const last = this.#queue.at(-1)?.due ?? 0
    this.#queue.push({ due: Math.max(last, performance.now() + millis), chunk })
    this.#schedule()
  }

  hold(held: boolean): void {
    this.#held = held
    this.#schedule()
  }

  drop(): void {
    clearTimeout(this.#timer)
    this.#queue.length = 0
  }

  #schedule(): void {
    const [next] = this.#queue
    if (this.#held || next === undefined || this.#timer !== undefined) return
    this.#timer = setTimeout(() => this.#flush(), Math.max(0, next.due - performance.now()))
  }

  #flush(): void {
    this.#timer = undefined
    const now = performance.now()
    while (!this.#held && (this.#queue[0]?.due ?? Infinity) <= now) {
      this.#pass(this.#queue.shift()?.chunk ?? null)
    }
    this.#schedule()
  }

  #pass(chunk: Buffer | null): void {
    if (this.#to.destroyed) return
    if (chunk === null) this.#to.end()
    else this.#to.write(chunk)
  }
}

/** A connection through the proxy: `near` came in, `far` goes to the target. */
class Link {
  readonly #near: Socket
  readonly #far: Socket
  readonly #directions: readonly [toFar: Direction, toNear: Direction]

  constructor(near: Socket, far: Socket, rules: Rules) {
    this.#near = near
    this.#far = far
    this.#directions = [new Direction(far), new Direction(near)]
    const [toFar, toNear] = this.#directions
    let awaitsAnswer = false
    near.on("data", (chunk) => {
      if (!awaitsAnswer) rules.asked()
      awaitsAnswer = true
      toFar.add(chunk, rules.millis())
    })
    far.on("data", (chunk) => {
      if (awaitsAnswer && rules.loses()) return this.reset()
      awaitsAnswer = false
      toNear.add(chunk, rules.millis())
    })
    near.once("end", () => toFar.add(null, rules.millis()))
    far.once("end", () => toNear.add(null, rules.millis()))
    let open = 2
    for (const socket of [near, far]) {
      socket.on("error", () => this.reset())
      socket.once("close", () => --open === 0 && rules.gone(this))
    }
  }

  hold(held: boolean): void {
    for (const direction of this.#directions) direction.hold(held)
  }

  reset(): void {
    for (const direction of this.#directions) direction.drop()
    for (const socket of [this.#near, this.#far]) socket.resetAndDestroy()
  }
}

interface Rules {
  readonly millis: () => number
  /** The near side has begun to speak. */
  readonly asked: () => void
  /** Whether this answer is lost; asked once for each. */
  readonly loses: () => boolean
  /** Both its connections have ended. */
  readonly gone: (link: Link) => void
}

const host = "127.0.0.1"

export interface Options {
  /** The port of 127.0.0.1 that connections are forwarded to, or one for each of them. */
  readonly target: number | (() => number)
  /** The port to listen on; any free one unless given. */
  readonly port?: number
  /** A number from 0 to 1, which decides whether an answer is lost. */
  readonly random?: () => number
}

const targetOf = (target: Options["target"]): (() => number) =>
  typeof target === "number" ? () => target : target

/** A proxy to a port of 127.0.0.1, on a port of its own there. */
export class TcpProxy {
  #port: number
  #target: () => number
  readonly #random: () => number
  readonly #links = new Set<Link>()
  #server: Server | undefined
  #mode: Mode = { _tag: "Pass" }
  #lost = 0
  #questions = 0

  constructor({ port = 0, random = Math.random, target }: Options) {
    this.#port = port
    this.#target = targetOf(target)
    this.#random = random
  }

  get port(): number {
    return this.#port
  }

  /** Forwards new connections to this port of 127.0.0.1; existing ones stay where they are. */
  leadTo(target: Options["target"]): void {
    this.#target = targetOf(target)
  }

  /** How many answers it has lost so far. */
  get lost(): number {
    return this.#lost
  }

  /** How often the near side has begun to send, answered or not. */
  get questions(): number {
    return this.#questions
  }

  /** Resolves when connections are accepted or refused as the mode says. */
  async set(mode: Mode): Promise<void> {
    this.#mode = mode
    if (mode._tag === "Reset" || mode._tag === "Refuse") {
      for (const link of this.#links) link.reset()
    }
    if (mode._tag === "Refuse") await this.close()
    else await this.listen()
    for (const link of this.#links) link.hold(mode._tag === "Silent")
  }

  /** Listens, after `close` on the same port as before. */
  listen(): Promise<void> {
    if (this.#server !== undefined) return Promise.resolve()
    const server = createServer({ noDelay: true }, (near) => this.#accept(near))
    this.#server = server
    return new Promise((resolve, reject) => {
      server.once("error", reject)
      server.listen(this.#port, host, () => {
        const address = server.address()
        if (typeof address === "object" && address !== null) this.#port = address.port
        resolve()
      })
    })
  }

  /** Resets every connection and closes the port. */
  close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    for (const link of this.#links) link.reset()
    return new Promise((resolve) => {
      if (server === undefined) resolve()
      else server.close(() => resolve())
    })
  }

  #accept(near: Socket): void {
    if (this.#mode._tag === "Reset") return void near.resetAndDestroy()
    const far = connect({ host, port: this.#target(), noDelay: true })
    const link: Link = new Link(near, far, {
      millis: () => (this.#mode._tag === "Slow" ? this.#mode.millis : 0),
      asked: () => this.#questions++,
      loses: () => {
        const loses = this.#mode._tag === "Lossy" && this.#random() < this.#mode.share
        if (loses) this.#lost++
        return loses
      },
      gone: () => this.#links.delete(link)
    })
    this.#links.add(link)
    link.hold(this.#mode._tag === "Silent")
  }
}

/** A proxy that forwards everything until its mode is set. It ends with the scope. */
export const make = (options: Options): Effect.Effect<TcpProxy, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const proxy = new TcpProxy(options)
      await proxy.listen()
      return proxy
    }),
    (proxy) => Effect.promise(() => proxy.close())
  )

/** Sets the mode until the scope ends. */
export const inMode = (proxy: TcpProxy, mode: Mode): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => proxy.set(mode)),
    () => Effect.promise(() => proxy.set({ _tag: "Pass" }))
  )
