import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { bytesOf, open, request } from "../testing/RawClient.ts"
import { until } from "../testing/RunningService.ts"

const program = fileURLToPath(new URL("MainService.ts", import.meta.url))

type Line = Readonly<Record<string, unknown>>

const run = (settings: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [program], {
        env: { ...process.env, ...settings },
        stdio: ["ignore", "pipe", "inherit"]
      })
      const exit = new Promise<number | null>((resolve) => child.once("exit", resolve))
      return { child, exit, lines: createInterface({ input: child.stdout }) }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

const firstLine = (lines: ReturnType<typeof createInterface>) =>
  Effect.callback<Line>((resume) => {
    lines.once("line", (line) => resume(Effect.succeed(JSON.parse(line) as Line)))
  })

const stop = (child: ChildProcess, signal: NodeJS.Signals) => Effect.sync(() => child.kill(signal))

describe("a service as a process", () => {
  /** Far longer than a test may take. */
  const longDelay = { PORT: "0", DRAIN_DELAY_SECONDS: "300" }

  it.live.each<[NodeJS.Signals, string]>([
    ["SIGTERM", "0"],
    ["SIGINT", longDelay.DRAIN_DELAY_SECONDS]
  ])(
    "finishes the requests in progress on %s and exits with 0, where the delay is %s",
    ([signal, delay]) =>
      Effect.gen(function* () {
        const { child, exit, lines } = yield* run({
          PORT: "0",
          DRAIN_DELAY_SECONDS: delay,
          REVISION: "1f0c4c7"
        })
        const { level, message, service, url, version } = yield* firstLine(lines)
        expect([level, message, service]).toEqual(["INFO", "listening", "main"])
        expect(version).toBe("0.1.0+1f0c4c7")
        const port = Number(new URL(String(url)).port)
        const busy = yield* open(port)
        const probe = yield* open(port)
        busy.send(bytesOf({ path: "/wait/" }))
        probe.send(bytesOf({ path: "/ok/" }))
        yield* Effect.promise(() => probe.receive())
        yield* stop(child, signal)
        const answer = yield* Effect.promise(() => busy.receive())
        expect([answer.status, answer.headers["connection"]]).toEqual([200, "close"])
        expect(yield* Effect.promise(() => exit)).toBe(0)
      })
  )

  it.live("accepts requests after SIGTERM until a second one", () =>
    Effect.gen(function* () {
      const { child, exit, lines } = yield* run(longDelay)
      const port = Number(new URL(String((yield* firstLine(lines))["url"])).port)
      yield* stop(child, "SIGTERM")
      yield* until(request(port, { path: "/health/ready" }), ({ status }) => status === 503)
      const answer = yield* request(port, { path: "/ok/" })
      expect([answer.status, answer.headers["connection"]]).toEqual([200, "close"])
      yield* stop(child, "SIGTERM")
      expect(yield* Effect.promise(() => exit)).toBe(0)
    })
  )

  it.live("logs in one line why it does not start, and exits with 1", () =>
    Effect.gen(function* () {
      const { exit, lines } = yield* run({ PORT: "seventy" })
      const logged: Array<string> = []
      lines.on("line", (line) => logged.push(line))
      expect(yield* Effect.promise(() => exit)).toBe(1)
      expect(logged.map((line) => JSON.parse(line) as Line)).toMatchObject([
        {
          level: "FATAL",
          message: 'does not start: PORT is "seventy". It must be a whole number from 0 to 65535.'
        }
      ])
    })
  )
})
