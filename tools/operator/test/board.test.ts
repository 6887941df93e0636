/** How the operator gets a sign-in link of the board, and ends its sessions. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BoardAccess, layer } from "@data-import/domain/access/BoardAccess"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Layer, Option } from "effect"
import { arrangeDeployed } from "./commandLine.ts"

const times = { idle: Duration.minutes(30), absolute: Duration.hours(12), prolonged: null }

describe("board end-sessions", () => {
  it.effect("ends the sessions of a user, which are listed before", () =>
    Effect.gen(function* () {
      const { done, json, ports, refused } = yield* arrangeDeployed
      const { begin, open } = yield* BoardAccess.pipe(
        Effect.provide(layer(times).pipe(Layer.provide(Layer.succeedContext(ports))))
      )
      const user = {
        subject: "u1",
        name: "ada",
        role: "viewer",
        organisations: null,
        suppliers: null
      } as const
      const [mine, other] = [
        yield* begin(user, RequestId.make("first")),
        yield* begin({ ...user, subject: "u2", name: "bo" }, RequestId.make("second"))
      ]
      expect(yield* json("board", "sessions")).toMatchObject([
        { role: "viewer" },
        { role: "viewer" }
      ])
      yield* refused(["board", "end-sessions"], /--user or --all/)
      expect(yield* done("board", "end-sessions", "--user", "ada")).toMatch(/^Ended 1 sessions/)
      expect(Option.isSome(yield* open(mine, false))).toBe(false)
      expect(Option.isSome(yield* open(other, false))).toBe(true)
      expect(yield* json("board", "end-sessions", "--all")).toEqual({ ended: 1 })
    })
  )
})

describe("board link", () => {
  it.effect("prints a link that signs in once", () =>
    Effect.gen(function* () {
      const { json, ports } = yield* arrangeDeployed
      const folder = mkdtempSync(join(tmpdir(), "operator-board-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: folder }))
      const link = Effect.provide(json("board", "link"), settings)
      expect(yield* link).toMatchObject({ url: expect.stringContaining("http://127.0.0.1:8080/") })
      writeFileSync(join(folder, "demo.json"), '{"baseUrl": "http://127.0.0.1:9090"}')
      const { url } = (yield* link) as { readonly url: string }
      const [, secret = ""] =
        /^http:\/\/127\.0\.0\.1:9090\/board\/sign-in\/([\w-]{43})\/$/.exec(url) ?? []
      const { follow } = yield* BoardAccess.pipe(
        Effect.provide(layer(times).pipe(Layer.provide(Layer.succeedContext(ports))))
      )
      expect(Option.isSome(yield* follow(secret, RequestId.make("followed")))).toBe(true)
      expect(Option.isSome(yield* follow(secret, RequestId.make("followed")))).toBe(false)
    })
  )

  it.effect("leads to the gateway that is named, and is in the audit log, without the link", () =>
    Effect.gen(function* () {
      const { done, ports, refused } = yield* arrangeDeployed
      const out = yield* done("board", "link", "--base-url", "http://localhost:9000/")
      expect(out).toMatch(
        /^Open this link .*\nhttp:\/\/localhost:9000\/board\/sign-in\/[\w-]{43}\/$/
      )
      yield* refused(["board", "link", "--base-url", "localhost"], /a URL like/)
      const { search } = yield* Effect.provideContext(AuditLog, ports)
      const filter = { organisations: null, action: "issue_board_link" }
      expect(
        (yield* search({ filter, before: null, limit: 10 })).entries.map(({ action, apiKey }) => [
          apiKey,
          action
        ])
      ).toEqual([["operator:tester", "issue_board_link"]])
    })
  )
})
