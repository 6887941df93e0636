/**
 * A service as a separate process, which can be killed at any moment and restarted at the same
 * address. It ends with the scope at the latest.
 */
import { Data, Duration, Effect, type Scope } from "effect"
import { NodeProcess, type Program } from "./NodeProcess.ts"
import { freePort, listens } from "./Ports.ts"
import type { ServiceName, Settings } from "./Wiring.ts"

/** The process ended, or did not listen in time; `output` is the end of its log. */
export class DidNotStart extends Data.TaggedError("DidNotStart")<{
  readonly service: string
  readonly output: string
}> {
  override get message(): string {
    return `${this.service} did not start: ${this.output}`
  }
}

/** How the process runs; `services/<name>/src/main.ts` unless a script is given. */
type Running = Partial<Pick<Program, "discardsOutput" | "nodeArgs" | "script">>

/** A start takes seconds, but minutes on a busy machine. */
const startLimit = Duration.minutes(5)

export class ServiceProcess<Name extends string = ServiceName> {
  readonly name: Name
  readonly port: number
  readonly #settings: Settings
  readonly #running: Running
  readonly #lives: Array<NodeProcess> = []

  constructor(name: Name, port: number, settings: Settings, running: Running) {
    this.name = name
    this.port = port
    this.#settings = settings
    this.#running = running
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Of the process that was started last. */
  get pid(): number {
    return this.#lives.at(-1)?.pid ?? 0
  }

  /** What all its processes have written. */
  get log(): ReadonlyArray<string> {
    return this.#lives.flatMap(({ err, out }) => [out, err].join("").trimEnd().split("\n"))
  }

  /** Starts a process with further settings for this process only, and waits until it listens. */
  start(settings: Settings = {}): Effect.Effect<void, DidNotStart> {
    return Effect.suspend(() => {
      const process = this.#spawn(settings)
      const waiting = Effect.gen({ self: this }, function* () {
        while (!(yield* listens(this.port))) {
          if (process.hasEnded) return yield* this.#failed()
          yield* Effect.sleep(Duration.millis(10))
        }
      })
      return Effect.timeoutOrElse(waiting, { duration: startLimit, orElse: () => this.#failed() })
    })
  }

  /** A further process with the same settings, on another port. It is not started yet. */
  get another(): Effect.Effect<ServiceProcess<Name>, never, Scope.Scope> {
    return make(this.name, this.#settings, this.#running)
  }

  /** SIGKILL; done when the process is gone. */
  kill(): Effect.Effect<void> {
    return this.stop("SIGKILL")
  }

  /** SIGTERM, and SIGKILL if that is not enough. */
  stop(signal: NodeJS.Signals = "SIGTERM"): Effect.Effect<void> {
    return Effect.suspend(() => this.#lives.at(-1)?.stop(signal) ?? Effect.void)
  }

  #failed(): Effect.Effect<never, DidNotStart> {
    return Effect.fail(
      new DidNotStart({ service: this.name, output: this.log.slice(-5).join("\n") })
    )
  }

  #spawn(settings: Settings): NodeProcess {
    const process = new NodeProcess({
      script: `services/${this.name}/src/main.ts`,
      ...this.#running,
      env: {
        PATH: globalThis.process.env["PATH"],
        HOST: "127.0.0.1",
        PORT: String(this.port),
        LOG_LEVEL: "error",
        ...this.#settings,
        ...settings
      }
    })
    this.#lives.push(process)
    return process
  }
}

/** A process that is not started yet, on a port of its own. */
export const make = <Name extends string>(
  name: Name,
  settings: Settings,
  running: Running = {}
): Effect.Effect<ServiceProcess<Name>, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(freePort, (port) => new ServiceProcess(name, port, settings, running)),
    // Nobody needs the drain delay any more, which SIGINT skips.
    (service) => service.stop("SIGINT")
  )
