/** How the operator sees imports, and retries failed ones. */
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { Batches } from "@data-import/domain/batches/Batches"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import {
  arrange as arrangeImport,
  claim,
  stagedContent
} from "@data-import/domain/testing/importStates"
import { takeNext } from "@data-import/domain/testing/begunBatches"
import { freshSupplier, noonPlus } from "@data-import/domain/testing/freshNames"
import { imported } from "@data-import/domain/testing/importedAccounts"
import * as DeployedStorage from "@data-import/postgres/testing/DeployedStorage"
import { databaseUsersAt, freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { describe, expect, it } from "@effect/vitest"
import { type Context, Effect, Layer, Option } from "effect"
import { arrange, operatorAs, operatorOn } from "./commandLine.ts"

const team = "Migration Team"

const error = { code: "invalid_email", attr: "billing_email", detail: "Not like this: a@" } as const

/** An import whose latest attempt has failed. */
const failed = Effect.gen(function* () {
  const { attempt, caller, key } = yield* arrangeImport("in progress")
  const imports = yield* ImportProcesses
  const at = noonPlus(30)
  const outcome = "account_failed_validation"
  yield* imports.release({ key, attempt, outcome, errors: [error], dryRun: false, caller, at })
  return { caller, key }
})

/** A supplier whose imports have failed, except one that was never tried. One is staged again. */
const failuresOfEveryKind = Effect.gen(function* () {
  const imports = yield* ImportProcesses
  yield* Configuration.use((configuration) => Effect.ignore(configuration.createTeam(team)))
  const { caller, keyOf, supplier } = yield* freshSupplier
  const stage = (key: ImportKey, at = noonPlus(0)) =>
    imports.stage({ key, ...stagedContent, caller, at })
  for (const name of ["failed", "staged anew", "broken off", "never tried"]) {
    const key = keyOf(name)
    yield* stage(key)
    if (name === "never tried") continue
    const { attempt } = yield* claim(key, caller, noonPlus(1))
    if (name === "broken off") continue
    const outcome = "account_failed_validation"
    const release = { key, attempt, outcome, errors: [error], dryRun: false, caller } as const
    yield* imports.release({ ...release, at: noonPlus(2) })
    if (name === "staged anew") yield* stage(key, noonPlus(3))
  }
  return supplier.code
})

type Ports = Batches | Configuration | ImportProcesses

const linesInHand = Effect.scoped(
  Effect.map(takeNext(noonPlus(3_600)), (taken) =>
    Option.match(taken, {
      onNone: () => [],
      onSome: ({ batch, lines }) =>
        lines.map(({ externalAccountNumber }) => [
          batch.started?.apiKey,
          batch.settings.operation,
          batch.settings.operationsTeam,
          externalAccountNumber
        ])
    })
  )
)

const words = ({ external_account_number, import_supplier }: ImportKey) => [
  import_supplier,
  external_account_number
]

describe("import show", () => {
  it.effect("tells why the latest attempt failed, and is in the audit log", () =>
    Effect.gen(function* () {
      const { done, json, ports } = yield* arrange
      const { key } = yield* Effect.provideContext(failed, ports)
      expect(yield* json("import", "show", ...words(key))).toMatchObject({
        ...key,
        state: "FAILED",
        times_staged: 1,
        attempts: [{ outcome: "FAILED", code: "account_failed_validation", errors: [error] }]
      })
      const text = yield* done("import", "show", ...words(key))
      expect(text).toContain("state: FAILED")
      expect(text).toMatch(/billing_email +invalid_email +Not like this: a@/)
    })
  )

  it.effect("is refused if nothing is staged", () =>
    Effect.gen(function* () {
      const { refused } = yield* arrange
      yield* refused(["import", "show", "ENERGY", "NL-1"], "Nothing is staged for ENERGY NL-1.")
    })
  )
})

describe("import list", () => {
  it.effect("has the imports without an account, or those that failed, in pages", () =>
    Effect.gen(function* () {
      const { done, json, ports, refused } = yield* arrange
      const { key } = yield* Effect.provideContext(failed, ports)
      const { external_account_number: number, import_supplier: supplier } = key
      const listed = [{ external_account_number: number, state: "FAILED" }]
      expect(yield* json("import", "list", supplier)).toMatchObject(listed)
      expect(yield* json("import", "list", supplier, "--failed")).toMatchObject(listed)
      expect(yield* json("import", "list", supplier, "--code", "invalid_email")).toMatchObject(
        listed
      )
      expect(yield* json("import", "list", supplier, "--code", "blank")).toEqual([])
      expect(yield* json("import", "list", supplier, "--after", number)).toEqual([])
      expect(yield* done("import", "list", supplier)).toContain("account_failed_validation")
      yield* refused(["import", "list", "NOBODY"], "NOBODY")
    })
  )
})

/** The batch that the operator's command leaves for a worker. */
const retried = Effect.fnUntraced(function* (
  ports: Context.Context<Ports>,
  operator: ReturnType<typeof operatorOn>,
  key: ImportKey,
  ...args: ReadonlyArray<string>
) {
  const { done, err, out } = yield* operator("import", "retry", ...args, "--team", team, "--json")
  expect({ done, err }).toEqual({ done: true, err: "" })
  expect(JSON.parse(out)).toMatchObject({ imports: 1 })
  expect(yield* Effect.provideContext(linesInHand, ports)).toEqual([
    ["operator:tester", "PROCESS", team, key.external_account_number]
  ])
})

const withTeam = Effect.andThen(
  Configuration.use((configuration) => Effect.ignore(configuration.createTeam(team))),
  failed
)

describe("import retry", () => {
  it.effect.each(["all that failed", "those of a code", "one"])("processes %s again", (which) =>
    Effect.gen(function* () {
      const { ports } = yield* arrange
      const { key } = yield* Effect.provideContext(withTeam, ports)
      const { external_account_number: number, import_supplier: supplier } = key
      const chosen =
        which === "one"
          ? [supplier, number]
          : [supplier, ...(which === "all that failed" ? [] : ["--code", "invalid_email"])]
      yield* retried(ports, operatorOn(Layer.succeedContext(ports)), key, ...chosen)
    })
  )

  it.effect.each([
    { code: [], numbers: ["broken off", "failed"] },
    { code: ["--code", "invalid_email"], numbers: ["failed"] },
    { code: ["--code", "lease_expired"], numbers: ["broken off"] }
  ])("takes what import list --failed shows: $numbers", ({ code, numbers }) =>
    Effect.gen(function* () {
      const { json, ports } = yield* arrange
      const supplier = yield* Effect.provideContext(failuresOfEveryKind, ports)
      expect(yield* json("import", "list", supplier, "--failed", ...code)).toMatchObject(
        numbers.map((external_account_number) => ({ external_account_number, state: "FAILED" }))
      )
      const retried = yield* json("import", "retry", supplier, "--team", team, ...code)
      expect(retried).toMatchObject({ imports: numbers.length })
      const lines = yield* Effect.provideContext(linesInHand, ports)
      expect(lines.map((line) => line.at(-1))).toEqual(numbers)
    })
  )

  it.effect("begins nothing if none has failed", () =>
    Effect.gen(function* () {
      const { done, ports } = yield* arrange
      const { key } = yield* Effect.provideContext(withTeam, ports)
      const args = ["import", "retry", key.import_supplier, "--team", team, "--code", "blank"]
      expect(yield* done(...args)).toBe("No import has failed.")
    })
  )

  it.effect("is refused for an unknown supplier or team", () =>
    Effect.gen(function* () {
      const { ports, refused } = yield* arrange
      const { key } = yield* Effect.provideContext(withTeam, ports)
      yield* refused(["import", "retry", "NOBODY", "--team", team], "NOBODY")
      const args = ["import", "retry", key.import_supplier, "--team", "Nobody"]
      yield* refused(args, "There is no team Nobody.")
    })
  )
})

it.effect("the rights of the operator's database user suffice for imports", () =>
  Effect.gen(function* () {
    const url = yield* freshUrl
    const users = databaseUsersAt(url)
    const deployed = yield* DeployedStorage.make(url, users)
    const { key } = yield* Effect.provideContext(withTeam, deployed)
    const operator = operatorAs(users.operator)
    const shown = yield* operator("import", "show", ...words(key), "--json")
    expect(JSON.parse(shown.out)).toMatchObject({
      state: "FAILED",
      attempts: [{ errors: [error] }]
    })
    const listed = yield* operator("import", "list", key.import_supplier, "--failed", "--json")
    expect(JSON.parse(listed.out)).toHaveLength(1)
    yield* retried(deployed, operator, key, key.import_supplier)
    yield* retried(deployed, operator, key, ...words(key))
    const { key: wrong, number } = yield* Effect.provideContext(imported(), deployed)
    const account = ["--account", number, "--reason", "Wrong sign", "--beyond-window"]
    const reverted = yield* operator("import", "revert", ...words(wrong), ...account)
    expect([reverted.err, reverted.out]).toEqual([
      "",
      `${number} is reverted; ${words(wrong).join(" ")} is pending again.`
    ])
    expect((yield* operator("audit", "verify")).done).toBe(true)
  })
)
