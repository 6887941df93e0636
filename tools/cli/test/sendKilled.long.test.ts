/**
 * The process of `send` is killed at different points. The same command continues each time, and in
 * the end nothing is lost or duplicated.
 */
import { readdirSync, readFileSync } from "node:fs"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { clientTenant } from "@data-import/local/test/clientTenant"
import type { Fault, Seen } from "@data-import/local/test/faultyGateway"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem } from "@data-import/local/test/wholeSystem"
import { inherited, NodeProcess } from "@data-import/testbed/NodeProcess"
import { folder } from "./commandLine.ts"
import { environmentOf } from "./onlineCommand.ts"
import { bookOf, failedIn, importedOf, importing, storedOf } from "./sentBook.ts"

interface Kill {
  readonly fits: (seen: Seen) => boolean
  /** The fault of the request that the process has sent. */
  readonly fault?: Fault
  readonly signal?: NodeJS.Signals
}

const upload = (from: string) => (seen: Seen) =>
  seen.method === "PUT" && seen.path.endsWith(`from_line=${from}`)

const kills: ReadonlyArray<Kill> = [
  // The service creates the batch, but the answer is lost.
  { fits: ({ method, path }) => method === "POST" && path.endsWith("/batches/") },
  { fits: upload("1"), fault: { _tag: "CutRequest", after: 2_000 } },
  { fits: ({ method, path }) => method === "PUT" && !path.endsWith("from_line=1") },
  { fits: ({ path }) => path.endsWith("/start/"), fault: { _tag: "CutRequest", after: 5 } },
  { fits: ({ path }) => path.includes("?wait="), signal: "SIGINT" },
  { fits: ({ path }) => path.includes("/results/") }
]

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "send in a process that is killed",
  (it) => {
    it.effect(
      "continues where it was, and ends with every line once",
      () =>
        Effect.gen(function* () {
          let current: NodeProcess | undefined
          const left = [...kills]
          const tenant = yield* clientTenant((seen) => {
            const [kill] = left
            if (kill === undefined || !kill.fits(seen)) return undefined
            left.shift()
            current?.child.kill(kill.signal ?? "SIGKILL")
            return kill.fault
          })
          const home = yield* folder
          // Three parts.
          const book = home.write("book.ndjson", bookOf(500, 20_000))
          const file = home.path("failed.ndjson")
          const args = [...importing(tenant, book), "--failed", file, "--json"]
          const env = inherited({
            ...environmentOf(tenant),
            XDG_CONFIG_HOME: home.path("config"),
            XDG_STATE_HOME: home.path("state")
          })
          const states = home.path("state/data-import/sends")
          const kept: Array<string> = []
          const ended: Array<{ readonly status: number | string; readonly text: string }> = []
          for (let run = 0; run <= kills.length; run++) {
            current = new NodeProcess({ script: "tools/cli/main.ts", args, env })
            const { child, ended: end } = current
            yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
            const { err, out, status } = yield* Effect.promise(() => end)
            ended.push({ status, text: `${out}${err}` })
            for (const name of readdirSync(states))
              kept.push(readFileSync(`${states}/${name}`, "utf8"))
          }
          expect(ended.map(({ status }) => status)).toEqual([
            ...kills.map(({ signal }) => (signal === "SIGINT" ? 130 : "SIGKILL")),
            1
          ])
          expect(ended[4]?.text).toMatch(/An earlier command goes on[^]*Nothing is lost/)
          const counts = { received: 500, succeeded: 450, already: 0, failed: 50, remaining: 0 }
          const [last] = (ended.at(-1)?.text ?? "").split("\n}\n")
          expect(JSON.parse(`${last}\n}`)).toMatchObject({ counts, failed_lines: 50 })
          const failed = failedIn(file)
          expect(failed.map(({ line }) => line)).toEqual(
            Array.from({ length: 50 }, (_, index) => (index + 1) * 10)
          )
          expect(failed.map(({ sent }) => sent?.external_account_number)).toEqual(
            failed.map(({ line }) => `B-${String(line).padStart(4, "0")}`)
          )
          const { accounts, batches } = yield* storedOf(tenant)
          expect(batches).toHaveLength(1)
          expect(accounts).toEqual(importedOf(500))
          expect(readdirSync(states)).toEqual([])
          expect(kept).toHaveLength(kills.length)
          const everything = [...kept, ...ended.map(({ text }) => text), ...args].join("\n")
          expect(everything).not.toContain(tenant.apiKey)
        }).pipe(Effect.scoped),
      { timeout: 180_000 }
    )
  }
)
