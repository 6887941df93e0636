/**
 * A service as a process of its own, which can be killed at any moment and started again at the
 * same address. It ends with the scope at the latest.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { Data, Duration, Effect, type Scope } from "effect"
import { ended, hasEnded } from "./Ending.ts"
import { freePort, listens } from "./Ports.ts"

export type ServiceName = "account-import" | "post-import" | "query" | "auth" | "gateway"

export type Settings = Readonly<Record<string, string>>

/** The process ended, or did not listen in time; `said` is the end of its log. */
export class DidNotStart extends Data.TaggedError("DidNotStart")<{
  readonly service: ServiceName
  readonly said: string
}> {
  override get message(): string {
    return `${this.service} did not start: ${this.said}`
  }
}

const services = join(import.meta.dirname, "..", "..", "services")
const startLimit = Duration.minutes(2)
const stopLimit = Duration.seconds(20)
const keptLines = 200

export class ServiceProcess {
  readonly name: ServiceName
  readonly port: number
  readonly #settings: Settings
  #child: ChildProcess | undefined
  #lines: ReadonlyArray<string> = []

  constructor(name: ServiceName, port: number, settings: Settings) {
    this.name = name
    this.port = port
    this.#settings = settings
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Of its present life. */
  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** The end of its log, over all its lives. */
  get log(): ReadonlyArray<string> {
    return this.#lines
  }

  /** Starts it, with settings of this life besides, and waits until it listens. */
  start(settings: Settings = {}): Effect.Effect<void, DidNotStart> {
    return Effect.suspend(() => {
      const child = this.#spawn(settings)
      const waiting = Effect.gen({ self: this }, function* () {
        while (!(yield* listens(this.port))) {
          if (hasEnded(child)) return yield* this.#failed()
          yield* Effect.sleep(Duration.millis(10))
        }
      })
      return Effect.timeoutOrElse(waiting, { duration: startLimit, orElse: () => this.#failed() })
    })
  }

  /** SIGKILL; done when the process is gone. */
  kill(): Effect.Effect<void> {
    return this.#end("SIGKILL")
  }

  /** SIGTERM, and SIGKILL where that is not enough. */
  stop(): Effect.Effect<void> {
    return this.#end("SIGTERM").pipe(
      Effect.timeoutOrElse({ duration: stopLimit, orElse: () => this.kill() })
    )
  }

  #end(signal: "SIGKILL" | "SIGTERM"): Effect.Effect<void> {
    return Effect.suspend(() => {
      const child = this.#child
      if (child === undefined || hasEnded(child)) return Effect.void
      child.kill(signal)
      return ended(child)
    })
  }

  #failed(): Effect.Effect<never, DidNotStart> {
    return Effect.fail(
      new DidNotStart({ service: this.name, said: this.#lines.slice(-5).join("\n") })
    )
  }

  #spawn(settings: Settings): ChildProcess {
    const child = spawn(process.execPath, [join(services, this.name, "src", "main.ts")], {
      cwd: services,
      env: {
        PATH: process.env["PATH"],
        HOST: "127.0.0.1",
        PORT: String(this.port),
        LOG_LEVEL: "error",
        ...this.#settings,
        ...settings
      },
      stdio: ["ignore", "pipe", "pipe"]
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#lines = [...this.#lines, ...text.trimEnd().split("\n")].slice(-keptLines)
      })
    }
    child.once("error", (error) => {
      this.#lines = [...this.#lines, error.message]
    })
    return child
  }
}

/** A service that is not started yet, on a port of its own. */
export const make = (
  name: ServiceName,
  settings: Settings
): Effect.Effect<ServiceProcess, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(freePort, (port) => new ServiceProcess(name, port, settings)),
    (service) => service.stop()
  )
