/** A command gives a wrong address up soon, and says that it waits for a service that was lost. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { openSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { TestClock, TestConsole } from "effect/testing"
import { watchingContact } from "../connection/Reachability.ts"
import { folder } from "./commandLine.ts"
import { user } from "./onlineCommand.ts"

const url = "http://127.0.0.1:1"

/** Asks each second until `answers` says so, `asks` times. */
const asking = (asks: number, answers: (ask: number) => boolean) => {
  let ask = 0
  const fetch = () =>
    answers(++ask)
      ? Promise.resolve(new Response(""))
      : Promise.reject(new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") }))
  const again = Schedule.spaced("1 second")
  return HttpClient.get(url).pipe(
    Effect.retry(again),
    Effect.repeat({ schedule: again, times: asks }),
    watchingContact(url),
    Effect.provideService(FetchHttpClient.Fetch, fetch)
  )
}

/** Lets seconds pass, and answers on which of them something was said. */
const saidIn = Effect.fnUntraced(function* (seconds: number) {
  const said: Array<number> = []
  for (let second = 1; second <= seconds; second++) {
    const before = (yield* TestConsole.errorLines).length
    yield* TestClock.adjust("1 second")
    yield* Effect.promise(() => new Promise(setImmediate))
    if ((yield* TestConsole.errorLines).length > before) said.push(second)
  }
  return said
})

describe("a service", () => {
  it.effect("is given up within 10 seconds if it was never reached", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Effect.flip(asking(1, () => false)))
      expect(yield* saidIn(10)).toEqual([])
      expect(yield* Fiber.join(fiber)).toMatchObject({
        why: `Cannot reach ${url}: ECONNREFUSED.`
      })
    })
  )

  it.effect("is waited for if it was lost, which is said within 5 seconds, then each 10", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(asking(1, (ask) => ask === 1 || ask > 30))
      const [first = 0, ...others] = yield* saidIn(32)
      expect(first).toBeLessThanOrEqual(5)
      expect(others).toEqual([first + 10, first + 20])
      expect(yield* TestConsole.errorLines).toContain(
        `Cannot reach ${url}: ECONNREFUSED. Trying again.`
      )
      yield* Fiber.join(fiber)
    })
  )
})

describe("a command", () => {
  const lost = /^The answer could not be written: ENOSPC.* done; look before you repeat it.\n$/
  it.effect.each(
    ["tools/cli/main.ts", "tools/operator/main.ts"].flatMap((main) => [
      { main, stdout: "pipe" as const, ends: { status: 141, err: "" } },
      {
        main,
        stdout: openSync("/dev/full", "w"),
        ends: { status: 2, err: expect.stringMatching(lost) }
      }
    ])
  )("ends as its reader closes, or says that its answer is lost: $main, $stdout", (each) =>
    Effect.promise(async () => {
      const stdio = ["ignore", each.stdout, "pipe"] as const
      const child = spawn(process.execPath, [each.main, "--help"], { stdio: [...stdio] })
      child.stdout?.destroy()
      const errors: Array<Buffer> = []
      child.stderr?.on("data", (part: Buffer) => errors.push(part))
      const [status] = (await once(child, "close")) as [number]
      expect({ status, err: Buffer.concat(errors).toString() }).toEqual(each.ends)
    })
  )

  it.effect.each([
    ["a key with quotes", '"sk_test_0"', "book.ndjson", /has a quote/],
    ["what is no plain file", " sk_test_0 ", "/dev/null", /is not a plain file/],
    ["the standard input", " sk_test_0 ", "-", /is not a plain file/]
  ] as const)("refuses %s before it sends anything", ([, key, book, reason]) =>
    Effect.gen(function* () {
      const files = yield* folder
      const { run } = yield* user({ DATA_IMPORT_URL: ` ${url} `, DATA_IMPORT_API_KEY: key })
      const name = book === "book.ndjson" ? files.write(book, "{}") : book
      const args = ["--supplier", "X", "--failed", files.path("f.ndjson")]
      const { err, status } = yield* run("send", name, ...args)
      expect({ status, err }).toEqual({ status: 2, err: expect.stringMatching(reason) })
    })
  )
})
