/** No command destroys a file that it reads, nor the failed lines of another book. */
import { linkSync, symlinkSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { account, book } from "./commandLine.ts"
import { user } from "./onlineCommand.ts"

const offline = { DATA_IMPORT_URL: "http://127.0.0.1:1", DATA_IMPORT_API_KEY: "sk_test_0000" }
const supplier = ["--supplier", "DEMO_ENERGY"]

describe("a file that a command reads", () => {
  it.effect.each([
    ["check by its name", ["check", "b.ndjson", "-o", "b.ndjson"]],
    ["check by a link", ["check", "b.ndjson", "-o", "link.ndjson"]],
    ["check by a hard link", ["check", "b.ndjson", "-o", "hard.ndjson"]],
    ["check as an unfinished report", ["check", "r.csv.part", "-o", "r.csv"]],
    ["check as its map", ["check", "b.ndjson", "--map", "m.csv", "-o", "m.csv"]],
    [
      "check as its configuration",
      ["check", "b.ndjson", "--configuration", "m.csv", "-o", "m.csv"]
    ],
    ["send by its name", ["send", "b.ndjson", ...supplier, "--failed", "b.ndjson"]],
    ["reconcile by its name", ["reconcile", "b.ndjson", ...supplier, "-o", "b.ndjson"]]
  ] as const)("is not written over by %s", ([, words]) =>
    Effect.gen(function* () {
      const { home, run } = yield* user(offline)
      const content = book(account())
      for (const name of ["b.ndjson", "m.csv", "r.csv.part"]) home.write(name, content)
      symlinkSync("b.ndjson", home.path("link.ndjson"))
      linkSync(home.path("b.ndjson"), home.path("hard.ndjson"))
      const isFile = (word: string) => /\.\w+$/.test(word)
      const args = words.map((word) => (isFile(word) ? home.path(word) : word))
      const { err, status } = yield* run(...args)
      expect({ status, err }).toEqual({ status: 2, err: expect.stringMatching(/would destroy/) })
      for (const name of ["b.ndjson", "m.csv", "r.csv.part"]) {
        expect(home.read(name)).toBe(content)
      }
    })
  )
})

describe("the failed lines of another book", () => {
  it.effect.each([
    ["another book", `{"book":"/elsewhere/b.ndjson","line":1,"sent":{}}\n`],
    ["something else", "Number,Name\n"]
  ] as const)("are not replaced if the file is of %s", ([, content]) =>
    Effect.gen(function* () {
      const { home, run } = yield* user(offline)
      const failed = home.write("failed.ndjson", content)
      const sent = home.write("b.ndjson", book(account()))
      const { err, status } = yield* run("send", sent, ...supplier, "--failed", failed)
      expect({ status, err }).toEqual({
        status: 2,
        err: expect.stringMatching(/other content than failed lines of .*--failed names another/)
      })
      expect(home.read("failed.ndjson")).toBe(content)
    })
  )
})
