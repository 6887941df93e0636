import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { ApiKeys } from "@data-import/domain/access/ApiKeys"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import { TokenSecrets } from "@data-import/domain/access/TokenSigner"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { callerOf, newAccountFor, supplierOf } from "@data-import/domain/testing/freshNames"
import { claim, stagedHash } from "@data-import/domain/testing/importStates"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import type { Ports } from "../Storage.ts"
import { arrange, memory, operatorOn } from "./commandLine.ts"

const demo = OrganisationName.make("demo")
describe("organisation", () => {
  it.effect("is created and listed", () =>
    Effect.gen(function* () {
      const { done, json } = yield* arrange
      expect(yield* json("organisation", "list")).toEqual([])
      const rival = { name: "rival", createdAt: "2026-03-01T12:00:00Z", testOf: null }
      expect(yield* json("organisation", "create", "rival")).toEqual(rival)
      expect(yield* done("organisation", "create", "demo")).toBe("Created the organisation demo.")
      expect(yield* json("organisation", "list")).toEqual([{ ...rival, name: "demo" }, rival])
      expect(yield* done("organisation", "list")).toBe(
        "name   createdAt             testOf\ndemo   2026-03-01T12:00:00Z  -\n" +
          "rival  2026-03-01T12:00:00Z  -"
      )
    })
  )

  it.effect("is refused if it exists or its name is invalid", () =>
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
      expect(issued.apiKey).toMatch(/^sk_live_[\w-]{43}$/)
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
    const setup = yield* Configuration
    yield* setup.createOrganisation(demo, at)
    yield* setup.createSupplier({ ...supplierOf(demo), code: key.import_supplier })
    yield* ImportProcesses.use((imports) =>
      imports.stage({ key, payload: "{}", hash: stagedHash, caller, at })
    )
  })
  const skip = ["import", "skip", "ENERGY", "NL-1"]
  const unskip = ["import", "unskip", "ENERGY", "NL-1"]

  it.effect("is skipped and unskipped, each a second time without a change", () =>
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

describe("a control character", () => {
  const text = (character: string) => `a${character}[2Jb`
  it.effect.each(["\0", "\t", "\n", "\u001b", "\u007f", "\u009b"])(
    "is refused in every name: %j",
    (character) =>
      Effect.gen(function* () {
        const { done, json, refused } = yield* arrange
        yield* done("organisation", "create", "demo")
        const wrong = text(character)
        const organisation = ["--organisation", "demo"]
        const commands = [
          [["organisation", "create", wrong], "lower-case letters"],
          [["supplier", "create", wrong, ...organisation], "none of them a control character"],
          [
            ["supplier", "create", "ENERGY", ...organisation, "--document-root", wrong],
            "relative path"
          ],
          [["team", "create", wrong], "none of them a control character"],
          [["choice", "add", "vendor", wrong], "none of them a control character"],
          [["key", "issue", "demo", "--label", wrong], "none of them a control character"]
        ] as const
        for (const [command, reason] of commands) yield* refused(command, reason)
        for (const lists of [["team"], ["supplier"], ["choice"], ["key", "demo"]] as const) {
          const [noun, ...rest] = lists
          expect(yield* json(noun, "list", ...rest), noun).toEqual([])
        }
      })
  )
})

describe("the command line", () => {
  it.effect("opens no storage for help or an invalid command line", () =>
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
      const away = Configuration.of({
        ...(yield* Effect.provideContext(Configuration, ports)),
        teams: Effect.fail(new StorageUnavailable({}))
      })
      const operator = operatorOn(
        Layer.merge(Layer.succeedContext(ports), Layer.succeed(Configuration, away))
      )
      const { done, err, out } = yield* operator("team", "list", "--json")
      expect({ done, out }).toEqual({ done: false, out: "" })
      expect(err).toContain("database cannot be reached")
    })
  )
})
