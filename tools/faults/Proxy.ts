/**
 * A TCP proxy that misbehaves on demand, between any two parts of the system. It looks into no
 * byte: an answer, to it, is what the far side sends after the near side has spoken. So it can lose
 * an answer after it was produced, which is the fault that a client can tell from no other.
 */
import { connect, createServer, type Server, type Socket } from "node:net"
import { Effect, type Scope } from "effect"
import type { Chance } from "./Chance.ts"
import { freePort } from "./Ports.ts"

export type Mode =
  | { readonly _tag: "Pass" }
  /** Everything takes so much longer, each way. */
  | { readonly _tag: "Slow"; readonly millis: number }
  /** Nothing gets through, and nobody is told; what was sent arrives when the mode ends. */
  | { readonly _tag: "Silent" }
  /** Every connection is reset, and so is every new one. */
  | { readonly _tag: "Reset" }
  /** Every connection is reset, and nobody listens. */
  | { readonly _tag: "Refuse" }
  /** This share of the answers is lost: the connection is reset in place of them. */
  | { readonly _tag: "Lossy"; readonly share: number }

/** One way of a connection: what came, in order, and when it may go on. */
class Way {
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
  readonly #ways: readonly [toFar: Way, toNear: Way]

  constructor(near: Socket, far: Socket, rules: Rules) {
    this.#near = near
    this.#far = far
    this.#ways = [new Way(far), new Way(near)]
    const [toFar, toNear] = this.#ways
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
    for (const way of this.#ways) way.hold(held)
  }

  reset(): void {
    for (const way of this.#ways) way.drop()
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

/** A proxy to a port of 127.0.0.1, on a port of its own there. */
export class Proxy {
  readonly port: number
  readonly #target: number
  readonly #chance: Chance
  readonly #links = new Set<Link>()
  #server: Server | undefined
  #mode: Mode = { _tag: "Pass" }
  #lost = 0
  #questions = 0

  constructor(port: number, target: number, chance: Chance) {
    this.port = port
    this.#target = target
    this.#chance = chance
  }

  /** How many answers it has lost so far. */
  get lost(): number {
    return this.#lost
  }

  /** How often the near side has begun to speak so far, whatever came of it. */
  get questions(): number {
    return this.#questions
  }

  /** Done when connections are taken, or refused, as the mode says. */
  async set(mode: Mode): Promise<void> {
    this.#mode = mode
    if (mode._tag === "Reset" || mode._tag === "Refuse") {
      for (const link of this.#links) link.reset()
    }
    if (mode._tag === "Refuse") await this.close()
    else await this.listen()
    for (const link of this.#links) link.hold(mode._tag === "Silent")
  }

  /** Takes the same port again after a while without. */
  listen(): Promise<void> {
    if (this.#server !== undefined) return Promise.resolve()
    const server = createServer({ noDelay: true }, (near) => this.#accept(near))
    this.#server = server
    return new Promise((resolve, reject) => {
      server.once("error", reject)
      server.listen(this.port, host, resolve)
    })
  }

  /** Ends every connection, and takes none. */
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
    const far = connect({ host, port: this.#target, noDelay: true })
    const link: Link = new Link(near, far, {
      millis: () => (this.#mode._tag === "Slow" ? this.#mode.millis : 0),
      asked: () => this.#questions++,
      loses: () => {
        const loses = this.#mode._tag === "Lossy" && this.#chance.hits(this.#mode.share)
        if (loses) this.#lost++
        return loses
      },
      gone: () => this.#links.delete(link)
    })
    this.#links.add(link)
    link.hold(this.#mode._tag === "Silent")
  }
}

/** A proxy that passes everything on until it is told otherwise, and ends with the scope. */
export const make = (target: number, chance: Chance): Effect.Effect<Proxy, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const proxy = new Proxy(yield* freePort, target, chance)
      yield* Effect.promise(() => proxy.listen())
      return proxy
    }),
    (proxy) => Effect.promise(() => proxy.close())
  )
