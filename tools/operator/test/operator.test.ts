import { ExternalAccountNumber } from "@data-import/domain/Account"
import { OrganisationName } from "@data-import/domain/Organisation"
import { layerMemory as accounts } from "@data-import/domain/ports/memory/Accounts"
import { layerMemory as apiKeys } from "@data-import/domain/ports/memory/ApiKeys"
import { layerMemory as history } from "@data-import/domain/ports/memory/History"
import { layerMemory as importProcesses } from "@data-import/domain/ports/memory/ImportProcesses"
import { layerMemory as operatorSetup } from "@data-import/domain/ports/memory/OperatorSetup"
import { layerMemory as tokens } from "@data-import/domain/ports/memory/TokenSeal"
import { ApiKeys } from "@data-import/domain/ports/ApiKeys"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { OperatorSetup } from "@data-import/domain/ports/OperatorSetup"
import { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import { TokenSecrets } from "@data-import/domain/ports/TokenSeal"
import { SupplierCode } from "@data-import/domain/Supplier"
import { callerOf, newAccountFor, supplierOf } from "@data-import/domain/testing/fresh"
import { claim } from "@data-import/domain/testing/importStates"
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Exit, Layer, Option } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { run } from "../Operator.ts"
import type { Ports } from "../Storage.ts"

const memory = Layer.mergeAll(operatorSetup, apiKeys, importProcesses, accounts, history, tokens)

/**
 * Runs command lines one after the other on a storage, each with what it printed and how it ended.
 */
const operatorOn = (storage: Layer.Layer<Ports>) =>
  Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const before = { out: yield* TestConsole.logLines, err: yield* TestConsole.errorLines }
    const exit = yield* Effect.exit(Effect.provide(run(args, storage), NodeServices.layer))
    const out = (yield* TestConsole.logLines).slice(before.out.length).join("\n")
    const err = (yield* TestConsole.errorLines).slice(before.err.length).join("\n")
    return { done: Exit.isSuccess(exit), out, err }
  })

/** A storage of its own, and the operator on it. */
const arrange = Effect.gen(function* () {
  const ports = yield* Layer.build(memory)
  const operator = operatorOn(Layer.succeedContext(ports))
  const done = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const { done, err, out } = yield* operator(...args)
    expect({ done, err }, args.join(" ")).toEqual({ done: true, err: "" })
    return out
  })
  const json = (...args: ReadonlyArray<string>) =>
    Effect.map(done(...args, "--json"), (out): unknown => JSON.parse(out))
  /** Expects a refusal: nothing on stdout, the reason on stderr, and another exit status than 0. */
  const refused = Effect.fnUntraced(function* (
    args: ReadonlyArray<string>,
    reason: string | RegExp
  ) {
    const { done, err, out } = yield* operator(...args)
    expect({ done, out }, args.join(" ")).toEqual({ done: false, out: "" })
    expect(err).toMatch(reason)
  })
  yield* TestClock.setTime(Date.parse("2026-03-01T12:00:00Z"))
  return { ports, done, json, refused }
})

const demo = OrganisationName.make("demo")
const energy = {
  code: "ENERGY",
  organisation: "demo",
  status: "Ongoing",
  documentRoot: "ENERGY",
  documentCheck: true,
  customerEmails: false,
  concurrencyLimit: null
}

describe("organisation", () => {
  it.effect("is created and listed", () =>
    Effect.gen(function* () {
      const { done, json } = yield* arrange
      expect(yield* json("organisation", "list")).toEqual([])
      const rival = { name: "rival", createdAt: "2026-03-01T12:00:00Z" }
      expect(yield* json("organisation", "create", "rival")).toEqual(rival)
      expect(yield* done("organisation", "create", "demo")).toBe("Created the organisation demo.")
      expect(yield* json("organisation", "list")).toEqual([{ ...rival, name: "demo" }, rival])
      expect(yield* done("organisation", "list")).toBe(
        "name   createdAt\ndemo   2026-03-01T12:00:00Z\nrival  2026-03-01T12:00:00Z"
      )
    })
  )

  it.effect("is refused where it exists or is no name", () =>
    Effect.gen(function* () {
      const { done, refused } = yield* arrange
      yield* done("organisation", "create", "demo")
      yield* refused(["organisation", "create", "demo"], "already an organisation demo")
      yield* refused(["organisation", "create", "Demo"], "lower-case letters")
      yield* refused(["organisation", "create"], "Missing required argument: name")
    })
  )
})

describe("key", () => {
  it.effect("is issued once in the clear, kept as a hash, and may do everything", () =>
    Effect.gen(function* () {
      const { done, json, ports } = yield* arrange
      yield* done("organisation", "create", "demo")
      const issued = (yield* json("key", "issue", "demo")) as { id: string; apiKey: string }
      expect(Object.keys(issued)).toEqual(["id", "apiKey"])
      expect(issued.apiKey).toMatch(/^sk_[\w-]{43}$/)
      const kept = yield* Effect.gen(function* () {
        const hash = yield* (yield* TokenSecrets).hash(issued.apiKey)
        return yield* (yield* ApiKeys).findByHash(hash)
      }).pipe(Effect.provideContext(ports))
      expect(Option.getOrThrow(kept)).toMatchObject({
        id: issued.id,
        organisation: "demo",
        scopes: ["import:read", "import:write"],
        expiresAt: null
      })
      expect(yield* done("key", "list", "demo", "--json")).not.toContain(issued.apiKey.slice(3))
    })
  )

  it.effect("has the scopes, the label and the end that were asked for", () =>
    Effect.gen(function* () {
      const { done, json } = yield* arrange
      yield* done("organisation", "create", "demo")
      const flags = ["--scope", "import:read", "--expires-in", "90d", "--label", "reports"]
      const { id } = (yield* json("key", "issue", "demo", ...flags)) as { id: string }
      yield* done("key", "revoke", id)
      const expected = {
        id,
        label: "reports",
        scopes: ["import:read"],
        createdAt: "2026-03-01T12:00:00Z",
        expiresAt: "2026-05-30T12:00:00Z",
        revokedAt: "2026-03-01T12:00:00Z"
      }
      expect(yield* json("key", "list", "demo")).toEqual([expected])
    })
  )

  it.effect.each([
    ["45s", Duration.seconds(45)],
    ["30m", Duration.minutes(30)],
    ["12h", Duration.hours(12)],
    ["36500d", Duration.days(36_500)]
  ] as const)("expires in %s", ([text, lifetime]) =>
    Effect.gen(function* () {
      const { done, ports } = yield* arrange
      yield* done("organisation", "create", "demo")
      yield* done("key", "issue", "demo", "--expires-in", text)
      const keys = yield* ApiKeys.use((keys) => keys.list(demo)).pipe(Effect.provideContext(ports))
      const end = DateTime.addDuration(yield* DateTime.now, lifetime)
      expect(keys.map(({ expiresAt }) => expiresAt)).toEqual([end])
    })
  )

  it.effect("is refused where the organisation or an option is wrong", () =>
    Effect.gen(function* () {
      const { done, json, refused } = yield* arrange
      yield* refused(["key", "issue", "demo"], "There is no organisation demo")
      yield* refused(["key", "list", "demo"], "There is no organisation demo")
      yield* done("organisation", "create", "demo")
      for (const text of ["0d", "-1d", "1w", "d", "1.5h", "36501d", `${"9".repeat(20)}s`]) {
        yield* refused(["key", "issue", "demo", `--expires-in=${text}`], "s, m, h or d")
      }
      for (const text of ["", "import:admin", "import:read,import:admin"]) {
        yield* refused(["key", "issue", "demo", `--scope=${text}`], "import:read, import:write")
      }
      expect(yield* json("key", "list", "demo")).toEqual([])
    })
  )

  it.effect("is revoked by its id, a second time without a change", () =>
    Effect.gen(function* () {
      const { done, json, refused } = yield* arrange
      yield* done("organisation", "create", "demo")
      const { apiKey, id } = (yield* json("key", "issue", "demo")) as { id: string; apiKey: string }
      expect(yield* json("key", "revoke", id)).toEqual({ id, revoked: true })
      yield* TestClock.adjust("1 minute")
      yield* done("key", "revoke", id)
      expect(yield* json("key", "list", "demo")).toMatchObject([
        { revokedAt: "2026-03-01T12:00:00Z" }
      ])
      yield* refused(["key", "revoke", "key_unknown"], "There is no key key_unknown")
      yield* refused(["key", "revoke", apiKey], /^(?!.*sk_)[^]*not the key/)
    })
  )
})

describe("supplier", () => {
  it.effect("is created Ongoing, with the code as document root and everything else off", () =>
    Effect.gen(function* () {
      const { done, json } = yield* arrange
      yield* done("organisation", "create", "demo")
      expect(yield* json("supplier", "create", "ENERGY", "--organisation", "demo")).toEqual(energy)
      expect(yield* json("supplier", "list")).toEqual([energy])
    })
  )

  it.effect("takes its configuration", () =>
    Effect.gen(function* () {
      const { done, json } = yield* arrange
      yield* done("organisation", "create", "demo")
      const flags = [
        ["--organisation", "demo", "--document-root", "/legacy/files"],
        ["--document-check", "off", "--customer-emails", "on", "--concurrency-limit", "4"]
      ].flat()
      expect(yield* json("supplier", "create", "ENERGY", ...flags)).toEqual({
        ...energy,
        documentRoot: "legacy/files",
        documentCheck: false,
        customerEmails: true,
        concurrencyLimit: 4
      })
    })
  )

  it.effect(
    "is refused where it exists, its organisation does not, or its settings are wrong",
    () =>
      Effect.gen(function* () {
        const { done, json, refused } = yield* arrange
        const create = (code: string, ...flags: ReadonlyArray<string>) => [
          "supplier",
          "create",
          code,
          "--organisation",
          "demo",
          ...flags
        ]
        yield* refused(create("ENERGY"), "There is no organisation demo")
        yield* done("organisation", "create", "demo")
        yield* refused(["supplier", "create", "ENERGY"], "--organisation")
        for (const code of ["", " ", ".", "..", "a\nb", "x".repeat(33)]) {
          yield* refused(create(code), "1 to 32 characters")
        }
        yield* refused(create("A/../B"), "give --document-root")
        yield* refused(create("ENERGY", "--document-root", "../other"), "relative path")
        yield* refused(create("ENERGY", "--document-check", "maybe"), "document-check")
        yield* refused(create("ENERGY", "--concurrency-limit", "0"), "whole number from 1")
        expect(yield* json("supplier", "list")).toEqual([])
        yield* done(...create("ENERGY"))
        yield* refused(create("ENERGY"), "already a supplier ENERGY")
      })
  )

  it.effect("changes its status; Complete only opens again with --reopen, and to Ongoing", () =>
    Effect.gen(function* () {
      const { done, json, refused } = yield* arrange
      const set = (...words: ReadonlyArray<string>) => [
        "supplier",
        "set-status",
        "ENERGY",
        ...words
      ]
      yield* refused(set("paused"), "There is no supplier ENERGY")
      yield* done("organisation", "create", "demo")
      yield* done("supplier", "create", "ENERGY", "--organisation", "demo")
      const steps = [
        ["Paused"],
        ["Paused"],
        ["Ongoing"],
        ["Complete"],
        ["Complete"],
        ["Ongoing", "--reopen"]
      ] as const
      for (const [status, ...flags] of steps) {
        const words = [status.toUpperCase(), ...flags]
        expect(yield* json(...set(...words))).toEqual({ ...energy, status })
      }
      expect(yield* done(...set("complete"))).toBe("The supplier ENERGY is Complete.")
      yield* refused(set("ongoing"), "--reopen")
      yield* refused(set("paused", "--reopen"), "only to become Ongoing")
      yield* refused(set("closed"), "ongoing, paused, complete")
      expect(yield* json("supplier", "list")).toEqual([{ ...energy, status: "Complete" }])
    })
  )
})

describe("team", () => {
  it.effect("is created and listed, and refused a second time", () =>
    Effect.gen(function* () {
      const { done, json, refused } = yield* arrange
      expect(yield* json("team", "create", "Migration Team")).toEqual({ name: "Migration Team" })
      yield* done("team", "create", "  Aftercare ")
      expect(yield* json("team", "list")).toEqual([
        { name: "Aftercare" },
        { name: "Migration Team" }
      ])
      yield* refused(["team", "create", "Aftercare"], "already a team Aftercare")
      yield* refused(["team", "create", " "], "1 to 128 characters")
    })
  )
})

describe("choice", () => {
  it.effect("is added to a list, once", () =>
    Effect.gen(function* () {
      const { done, json, refused } = yield* arrange
      const added = { list: "vendor", value: "WORLDPAY" }
      expect(yield* json("choice", "add", "vendor", "WORLDPAY")).toEqual(added)
      yield* done("choice", "add", "vendor", "WORLDPAY")
      expect(yield* json("choice", "list")).toEqual([added])
      yield* refused(["choice", "add", "colour", "BLUE"], "sales_channel")
      yield* refused(["choice", "add", "vendor", ""], "1 to 128 characters")
    })
  )
})

describe("import", () => {
  const key = {
    import_supplier: SupplierCode.make("ENERGY"),
    external_account_number: ExternalAccountNumber.make("NL-1")
  }
  const caller = callerOf(demo)
  const stage = Effect.gen(function* () {
    const at = yield* DateTime.now
    const setup = yield* OperatorSetup
    yield* setup.createOrganisation(demo, at)
    yield* setup.createSupplier({ ...supplierOf(demo), code: key.import_supplier })
    yield* ImportProcesses.use((imports) => imports.stage({ key, payload: "{}", caller, at }))
  })
  const skip = ["import", "skip", "ENERGY", "NL-1"]
  const unskip = ["import", "unskip", "ENERGY", "NL-1"]

  it.effect("is skipped and taken in again, the same twice without a change", () =>
    Effect.gen(function* () {
      const { done, json, ports } = yield* arrange
      yield* Effect.provideContext(stage, ports)
      const skipped = ImportProcesses.use((imports) => imports.find(key)).pipe(
        Effect.map((found) => Option.getOrThrow(found).skipped),
        Effect.provideContext(ports)
      )
      expect(yield* json(...skip)).toEqual({ ...key, skipped: true })
      yield* done(...skip)
      expect(yield* skipped).toBe(true)
      expect(yield* json(...unskip)).toEqual({ ...key, skipped: false })
      yield* done(...unskip)
      expect(yield* skipped).toBe(false)
    })
  )

  it.effect("is not skipped where nothing is staged, while it runs, or once it is imported", () =>
    Effect.gen(function* () {
      const { ports, refused } = yield* arrange
      yield* refused(skip, "nothing is staged")
      yield* refused(unskip, "nothing is staged")
      yield* refused(["import", "skip", "ENERGY", ".."], "external account number")
      yield* Effect.provideContext(stage, ports)
      const at = yield* DateTime.now
      const { attempt } = yield* Effect.provideContext(claim(key, caller, at), ports)
      yield* refused(skip, "right now")
      const newAccount = newAccountFor(key, at)
      yield* ImportProcesses.use((imports) =>
        imports.complete({ key, attempt, newAccount, caller })
      ).pipe(Effect.provideContext(ports))
      yield* refused(skip, `is imported, as ${newAccount.number}`)
      yield* refused(unskip, `is imported, as ${newAccount.number}`)
    })
  )
})

describe("the command line", () => {
  it.effect("opens no storage for help or a line that makes no sense", () =>
    Effect.gen(function* () {
      const operator = operatorOn(Layer.effectDiscard(Effect.die("opened")) as Layer.Layer<Ports>)
      expect(yield* operator("--help")).toMatchObject({ done: true, err: "" })
      expect(yield* operator("supplier", "lis")).toMatchObject({ done: false, out: "" })
      for (const noun of [[], ["key"]]) {
        const { done, err, out } = yield* operator(...noun)
        expect({ done, out }).toEqual({ done: false, out: "" })
        expect(err).toContain("SUBCOMMANDS")
      }
    })
  )

  it.effect("says that the database is away", () =>
    Effect.gen(function* () {
      const ports = yield* Layer.build(memory)
      const away = OperatorSetup.of({
        ...(yield* Effect.provideContext(OperatorSetup, ports)),
        teams: Effect.fail(new StorageUnavailable({}))
      })
      const operator = operatorOn(
        Layer.merge(Layer.succeedContext(ports), Layer.succeed(OperatorSetup, away))
      )
      const { done, err, out } = yield* operator("team", "list", "--json")
      expect({ done, out }).toEqual({ done: false, out: "" })
      expect(err).toContain("database cannot be reached")
    })
  )
})
