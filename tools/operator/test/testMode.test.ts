/** Commands with `--test`: they mean the test organisation and its suppliers. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { codeIn, WireCode } from "@data-import/domain/suppliers/Supplier"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { callerOf, noon } from "@data-import/domain/testing/freshNames"
import { stagedContent } from "@data-import/domain/testing/importStates"
import { arrangeDeployed } from "./commandLine.ts"

const begun = Effect.gen(function* () {
  const arranged = yield* arrangeDeployed
  yield* arranged.done("organisation", "create", "demo")
  return arranged
})

describe("--test", () => {
  it.effect("makes the test organisation with its first key, and names its keys by the mode", () =>
    Effect.gen(function* () {
      const { json, refused } = yield* begun
      yield* refused(["key", "list", "demo", "--test"], "has no test organisation yet")
      const issue = (...flags: ReadonlyArray<string>) =>
        Effect.map(json("key", "issue", ...flags), (issued) => issued as Record<"apiKey", string>)
      expect((yield* issue("demo", "--test")).apiKey).toMatch(/^sk_test_[\w-]{43}$/)
      expect((yield* issue("demo", "--test")).apiKey).toMatch(/^sk_test_[\w-]{43}$/)
      expect((yield* issue("demo-test")).apiKey).toMatch(/^sk_test_[\w-]{43}$/)
      expect((yield* issue("demo")).apiKey).toMatch(/^sk_live_[\w-]{43}$/)
      expect(yield* json("organisation", "list")).toMatchObject([
        { name: "demo", testOf: null },
        { name: "demo-test", testOf: "demo" }
      ])
      expect(yield* json("key", "list", "demo", "--test")).toHaveLength(3)
      expect(yield* json("key", "list", "demo")).toHaveLength(1)
    })
  )

  it.effect("finds a free name for the test organisation", () =>
    Effect.gen(function* () {
      const { done, json } = yield* begun
      const long = "a".repeat(64)
      yield* done("organisation", "create", "demo-test")
      yield* done("organisation", "create", long)
      for (const live of ["demo", "demo-test", long]) yield* done("key", "issue", live, "--test")
      expect(yield* json("organisation", "list")).toMatchObject([
        { name: `${"a".repeat(56)}-test`, testOf: long },
        { name: long },
        { name: "demo" },
        { name: "demo-test", testOf: null },
        { name: "demo-test-test", testOf: "demo-test" },
        { name: "demo-test2", testOf: "demo" }
      ])
    })
  )

  it.effect("creates and configures a supplier of the same code, with documents of its own", () =>
    Effect.gen(function* () {
      const { done, json, refused } = yield* begun
      const create = ["supplier", "create", "ENERGY", "--organisation", "demo"]
      yield* done(...create)
      expect(yield* done(...create, "--test")).toBe("Created the test supplier ENERGY, Ongoing.")
      yield* refused([...create, "--test"], "There is already a supplier ENERGY.")
      yield* done("supplier", "set", "ENERGY", "--time-zone", "Europe/Oslo", "--test")
      yield* done("supplier", "set-status", "ENERGY", "paused")
      const test = {
        code: "ENERGY",
        organisation: "demo-test",
        status: "Ongoing",
        documentRoot: "demo-test/ENERGY",
        timeZone: "Europe/Oslo"
      }
      const live = { code: "ENERGY", organisation: "demo", status: "Paused", timeZone: "UTC" }
      expect(yield* json("supplier", "list")).toMatchObject([test, live])
      expect(yield* json("supplier", "summary", "ENERGY", "--test")).toMatchObject({
        import_supplier: "ENERGY",
        total: 0
      })
    })
  )

  it.effect("finds no live supplier, and without it no test supplier", () =>
    Effect.gen(function* () {
      const { done, refused } = yield* begun
      const create = (code: string) => ["supplier", "create", code, "--organisation", "demo"]
      yield* done(...create("LIVE"))
      yield* done(...create("TRY"), "--test")
      for (const [code, ...flag] of [["LIVE", "--test"], ["TRY"]] as const) {
        const why = `There is no supplier ${code}.`
        yield* refused(["supplier", "set", code, "--time-zone", "UTC", ...flag], why)
        yield* refused(["supplier", "set-status", code, "paused", ...flag], why)
        yield* refused(["supplier", "summary", code, ...flag], why)
        yield* refused(["import", "list", code, ...flag], why)
        yield* refused(["import", "show", code, "1", ...flag], `Nothing is staged for ${code} 1.`)
        yield* refused(["import", "skip", code, "1", ...flag], "nothing is staged")
        yield* refused(["import", "retry", code, "--team", "T", ...flag], why)
        yield* refused(["batch", "list", code, ...flag], why)
        const webhook = ["webhook", "create", "demo", "https://1.1.1.1/", "--supplier", code]
        yield* refused([...webhook, ...flag], why)
      }
    })
  )

  it.effect("sets up webhooks of the test organisation", () =>
    Effect.gen(function* () {
      const { done, json } = yield* begun
      yield* done("supplier", "create", "ENERGY", "--organisation", "demo", "--test")
      const create = ["webhook", "create", "demo", "https://1.1.1.1/", "--supplier", "ENERGY"]
      yield* done(...create, "--test")
      const expected = [{ organisation: "demo-test", suppliers: ["ENERGY"] }]
      expect(yield* json("webhook", "list")).toMatchObject(expected)
      expect(yield* json("webhook", "list", "--organisation", "demo", "--test")).toMatchObject(
        expected
      )
      expect(yield* json("webhook", "list", "--organisation", "demo")).toEqual([])
    })
  )

  it.effect("erases a customer of the test supplier, and names it as it was given", () =>
    Effect.gen(function* () {
      const { done, json, ports, refused } = yield* begun
      const create = ["supplier", "create", "ENERGY", "--organisation", "demo"]
      yield* done(...create)
      yield* done(...create, "--test")
      yield* done("team", "create", "Team")
      const key = {
        import_supplier: codeIn("test", WireCode.make("ENERGY")),
        external_account_number: ExternalAccountNumber.make("1")
      }
      const caller = callerOf(OrganisationName.make("demo-test"))
      const staging = ImportProcesses.use((imports) =>
        imports.stage({ key, ...stagedContent, caller, at: noon })
      )
      yield* Effect.provideContext(staging, ports)
      const erase = ["erase", "ENERGY", "1", "--accept-loss"]
      yield* refused(erase, "Cannot erase ENERGY 1: nothing is staged")
      expect(yield* json(...erase, "--test")).toMatchObject({ import_supplier: "ENERGY" })
      const retry = ["import", "retry", "ENERGY", "1", "--team", "Team", "--test"]
      yield* refused(retry, "Cannot retry ENERGY 1: its data was erased.")
    })
  )
})
