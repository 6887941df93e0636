/**
 * A data directory: its layout, and the right to run PostgreSQL on it. One process has the right at
 * a time. It is a socket that the process listens on, so the right ends with the process in every
 * case. Other processes learn through the same socket that they may use the database, or from its
 * end that the right is free.
 */
import { createHash } from "node:crypto"
import { mkdirSync, realpathSync, rmSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Config, Effect, type Scope } from "effect"
import * as Settings from "@data-import/domain/support/Settings"

/** The absolute path of `DATA_DIR` (`.data`). */
export const dataDir = Config.map(Settings.text("DATA_DIR").or(".data"), (folder) =>
  resolve(folder)
)

export const placesIn = (dataDir: string) => ({
  postgres: join(dataDir, "postgres"),
  /** The keys that sign tokens. */
  keys: join(dataDir, "keys"),
  /** The keys that sign certificates. */
  certificateKeys: join(dataDir, "certificate-keys"),
  /** The folder that serves as the document store. */
  documents: join(dataDir, "documents"),
  demo: join(dataDir, "demo.json"),
  /** Where the metrics of the local run are. */
  metrics: join(dataDir, "metrics.json")
})

export interface Held {
  readonly _tag: "Held"
  /** Lets waiting and later processes use the running PostgreSQL. */
  readonly share: Effect.Effect<void>
}

/** `Shared`: another process runs PostgreSQL here, and it may be used. */
export type Claim = Held | { readonly _tag: "Shared" }

const message = "shared"

/**
 * On Linux in the abstract namespace, where a name lives no longer than the process that has it.
 * Elsewhere a file, which outlives a process that was killed. Its path must be short.
 */
const socketName = (dataDir: string): string => {
  mkdirSync(dataDir, { recursive: true })
  const digest = createHash("sha256").update(realpathSync(dataDir)).digest("hex")
  return process.platform === "linux"
    ? `\0data-import-${digest}`
    : join(tmpdir(), `data-import-${digest.slice(0, 16)}.sock`)
}

class Socketed {
  readonly #waiting = new Set<Socket>()
  #shared = false
  readonly #server = createServer((socket) => {
    this.#waiting.add(socket)
    socket.once("close", () => this.#waiting.delete(socket))
    socket.on("error", () => socket.destroy())
    if (this.#shared) socket.end(message)
  })

  /** False if another process has the name. */
  listen(name: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "EADDRINUSE") resolve(false)
        else reject(error)
      })
      this.#server.listen(name, () => resolve(true))
    })
  }

  share(): void {
    this.#shared = true
    for (const socket of this.#waiting) socket.end(message)
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#waiting) socket.destroy()
  }
}

const hold = (name: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = new Socketed()
      return (await socket.listen(name)) ? socket : null
    }),
    (socket) => Effect.sync(() => socket?.close())
  )

/**
 * Returns what the process with the name sends before the connection ends. Removes the socket file
 * of a killed process.
 */
const hear = (name: string) =>
  Effect.callback<string>((resume) => {
    let heard = ""
    const socket = connect(name)
    socket.setEncoding("utf8")
    socket.on("data", (text: string) => (heard += text))
    socket.on("error", ({ code }: NodeJS.ErrnoException) => {
      if (code === "ECONNREFUSED" && !name.startsWith("\0")) rmSync(name, { force: true })
      socket.destroy()
    })
    socket.once("close", () => resume(Effect.succeed(heard)))
    return Effect.sync(() => socket.destroy())
  })

/** Waits for the right or for permission to use the database, whichever comes first. */
export const claim = Effect.fnUntraced(function* (
  dataDir: string
): Effect.fn.Return<Claim, never, Scope.Scope> {
  const name = socketName(dataDir)
  while (true) {
    const socket = yield* hold(name)
    if (socket !== null) return { _tag: "Held", share: Effect.sync(() => socket.share()) }
    if ((yield* hear(name)) === message) return { _tag: "Shared" }
  }
})
