/** The proxy does what each mode says, to existing and to new connections. */
import { connect, createServer, type Socket } from "node:net"
import type { AddressInfo } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as TcpProxy from "../testing/TcpProxy.ts"

/** Answers every question, and records it. */
const server = Effect.acquireRelease(
  Effect.callback<{ port: number; asked: Array<string>; close: () => void }>((resume) => {
    const asked: Array<string> = []
    const sockets = new Set<Socket>()
    const listener = createServer((socket) => {
      sockets.add(socket)
      socket.setEncoding("utf8").on("data", (question: string) => {
        asked.push(question)
        socket.write(`${question}?`)
      })
      socket.on("error", () => socket.destroy())
    })
    const close = () => {
      listener.close()
      for (const socket of sockets) socket.destroy()
    }
    listener.listen(0, "127.0.0.1", () => {
      const { port } = listener.address() as AddressInfo
      resume(Effect.succeed({ port, asked, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

/** A connection on which questions are asked one after the other. */
class Asker {
  readonly #socket: Socket

  constructor(port: number) {
    this.#socket = connect({ host: "127.0.0.1", port }).setEncoding("utf8")
    this.#socket.on("error", () => {})
  }

  /** The answer, or the code of the error in its place. */
  ask(question: string): Promise<string> {
    return new Promise((resolve) => {
      this.#socket.once("data", (answer) => resolve(String(answer)))
      this.#socket.once("error", (error) => resolve(String(Reflect.get(error, "code"))))
      this.#socket.write(question)
    })
  }

  close(): void {
    this.#socket.destroy()
  }
}

const asker = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => new Asker(port)),
    (it) => Effect.sync(() => it.close())
  )

const set = (proxy: TcpProxy.TcpProxy, mode: TcpProxy.Mode) => Effect.promise(() => proxy.set(mode))

const ask = (it: Asker, question: string) => Effect.promise(() => it.ask(question))

const world = Effect.gen(function* () {
  const { asked, port } = yield* server
  const proxy = yield* TcpProxy.make({ target: port })
  const old = yield* asker(proxy.port)
  expect(yield* ask(old, "before")).toBe("before?")
  return { asked, port, proxy, old, fresh: Effect.suspend(() => asker(proxy.port)) }
})

const table: ReadonlyArray<{
  readonly mode: TcpProxy.Mode
  readonly old: string
  readonly fresh: string
  readonly asked: ReadonlyArray<string>
  readonly lost: number
}> = [
  { mode: { _tag: "Pass" }, old: "old?", fresh: "fresh?", asked: ["old", "fresh"], lost: 0 },
  {
    mode: { _tag: "Slow", millis: 5 },
    old: "old?",
    fresh: "fresh?",
    asked: ["old", "fresh"],
    lost: 0
  },
  { mode: { _tag: "Reset" }, old: "ECONNRESET", fresh: "ECONNRESET", asked: [], lost: 0 },
  { mode: { _tag: "Refuse" }, old: "ECONNRESET", fresh: "ECONNREFUSED", asked: [], lost: 0 },
  {
    mode: { _tag: "Lossy", share: 0 },
    old: "old?",
    fresh: "fresh?",
    asked: ["old", "fresh"],
    lost: 0
  },
  {
    mode: { _tag: "Lossy", share: 1 },
    old: "ECONNRESET",
    fresh: "ECONNRESET",
    asked: ["old", "fresh"],
    lost: 2
  }
]

describe("the TCP proxy", () => {
  it.live.each(table)("acts as documented in the mode $mode", ({ asked, fresh, lost, mode, old }) =>
    Effect.gen(function* () {
      const it = yield* world
      const waiting = it.old.ask.bind(it.old)
      const isCut = mode._tag === "Reset" || mode._tag === "Refuse"
      // A connection that is cut reports it before a question is asked.
      const cut = isCut ? waiting("") : undefined
      yield* set(it.proxy, mode)
      expect(yield* Effect.promise(() => cut ?? waiting("old"))).toBe(old)
      expect(yield* ask(yield* it.fresh, "fresh")).toBe(fresh)
      expect(it.asked).toEqual(["before", ...asked])
      expect(it.proxy.lost).toBe(lost)
      expect(it.proxy.questions).toBe(1 + asked.length)
      yield* set(it.proxy, { _tag: "Pass" })
      expect(yield* ask(yield* it.fresh, "after")).toBe("after?")
    })
  )

  it.live("delays both directions", () =>
    Effect.gen(function* () {
      const it = yield* world
      yield* set(it.proxy, { _tag: "Slow", millis: 60 })
      const began = performance.now()
      yield* ask(it.old, "old")
      // A timer may be early by less than a millisecond.
      expect(performance.now() - began).toBeGreaterThanOrEqual(2 * 60 - 2)
    })
  )

  it.live("buffers everything while it is silent, and delivers it afterwards", () =>
    Effect.gen(function* () {
      const it = yield* world
      yield* set(it.proxy, { _tag: "Silent" })
      const fresh = yield* it.fresh
      const answers = [it.old.ask("old"), fresh.ask("fresh")]
      for (const question of ["one", "two", "three"]) {
        yield* ask(yield* asker(it.port), question)
      }
      expect(it.asked).toEqual(["before", "one", "two", "three"])
      yield* set(it.proxy, { _tag: "Pass" })
      expect(yield* Effect.promise(() => Promise.all(answers))).toEqual(["old?", "fresh?"])
      expect(it.proxy.lost).toBe(0)
    })
  )

  it.live("drops answers with a random number below the given share", () =>
    Effect.gen(function* () {
      const { port } = yield* server
      let answers = 0
      const proxy = yield* TcpProxy.make({ target: port, random: () => (answers++ % 5) / 5 })
      yield* set(proxy, { _tag: "Lossy", share: 0.4 })
      const found = yield* Effect.forEach(Array.from({ length: 10 }), () =>
        Effect.scoped(Effect.flatMap(asker(proxy.port), (it) => ask(it, "q")))
      )
      const five = ["ECONNRESET", "ECONNRESET", "q?", "q?", "q?"]
      expect(found).toEqual([...five, ...five])
      expect(proxy.lost).toBe(4)
    })
  )

  it.live("does not treat a connection that ends as an answer", () =>
    Effect.gen(function* () {
      const it = yield* world
      it.old.close()
      expect(yield* ask(yield* it.fresh, "after")).toBe("after?")
      expect(it.proxy.lost).toBe(0)
    })
  )
})
