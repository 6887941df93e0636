/** The operator erases a customer, and is told what is to be deleted elsewhere. */
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import {
  adding,
  card,
  changeAccount,
  creditOf,
  imported,
  mayStatement
} from "@data-import/domain/testing/importedAccounts"
import { arrange as arrangeImport } from "@data-import/domain/testing/importStates"
import * as DeployedStorage from "@data-import/postgres/testing/DeployedStorage"
import { databaseUsersAt, freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { arrangeDeployed, operatorAs } from "./commandLine.ts"

const withDocument = Effect.gen(function* () {
  const account = yield* imported()
  yield* changeAccount(account, (view) => ({
    ...adding(creditOf("T-1"))(view),
    statements: [mayStatement("S-1", { statement_path: "/may.pdf" })],
    instruction: card
  }))
  const { external_account_number, import_supplier } = account.key
  return { ...account, words: [import_supplier, external_account_number] }
})

describe("erase", () => {
  it.effect("says what it would erase, and erases only if the line says so", () =>
    Effect.gen(function* () {
      const { done, json, ports, refused } = yield* arrangeDeployed
      const { key, number, words } = yield* Effect.provideContext(withDocument, ports)
      const document = `${key.import_supplier}/may.pdf`
      yield* refused(["erase", ...words], /for good[^]*--accept-loss[^]*may\.pdf[^]*pm_1/)
      expect(yield* json("import", "show", ...words)).toMatchObject({ state: "IMPORTED" })
      expect(yield* json("erase", ...words, "--accept-loss")).toEqual({
        ...key,
        was_erased_before: false,
        batch_lines: 0,
        documents: [document],
        instructions: [{ vendor: "STRIPE", reference: "pm_1", type: "CARD" }]
      })
      expect(yield* json("import", "show", ...words)).toMatchObject({
        state: "ERASED",
        kraken_account_number: null
      })
      expect(yield* json("account", "show", number)).toMatchObject({ balance: "10.00", audit: [] })
      expect(yield* done("erase", ...words, "--accept-loss")).toContain("was erased before")
    })
  )

  it.effect("is refused for what is not staged or is being processed", () =>
    Effect.gen(function* () {
      const { ports, refused } = yield* arrangeDeployed
      const { key } = yield* Effect.provideContext(arrangeImport("none"), ports)
      const words = [key.import_supplier, key.external_account_number]
      yield* refused(["erase", ...words, "--accept-loss"], "nothing is staged")
      yield* refused(["erase", "NOBODY", "1", "--accept-loss"], "nothing is staged")
    })
  )

  it.effect("an erased import is neither skipped, unskipped nor retried", () =>
    Effect.gen(function* () {
      const { done, ports, refused } = yield* arrangeDeployed
      const { words } = yield* Effect.provideContext(withDocument, ports)
      yield* Effect.provideContext(
        Configuration.use((setup) => Effect.ignore(setup.createTeam("Team"))),
        ports
      )
      yield* done("erase", ...words, "--accept-loss")
      for (const verb of ["skip", "unskip"]) {
        yield* refused(["import", verb, ...words], "its data was erased")
      }
      yield* refused(["import", "retry", ...words, "--team", "Team"], "its data was erased")
    })
  )
})

it.effect("the rights of the operator's database user suffice to erase", () =>
  Effect.gen(function* () {
    const url = yield* freshUrl
    const users = databaseUsersAt(url)
    const deployed = yield* DeployedStorage.make(url, users)
    const withTeam = Configuration.use((setup) => Effect.ignore(setup.createTeam("Migration Team")))
    const { words } = yield* Effect.provideContext(Effect.andThen(withTeam, withDocument), deployed)
    const operator = operatorAs(users.operator)
    const preview = yield* operator("erase", ...words)
    expect([preview.done, preview.err]).toEqual([false, expect.stringContaining("may.pdf")])
    const erased = yield* operator("erase", ...words, "--accept-loss")
    expect([erased.done, erased.err]).toEqual([true, ""])
    expect(erased.out).toContain("may.pdf")
    const verified = yield* operator("audit", "verify")
    expect(verified.done).toBe(true)
  }).pipe(Effect.scoped)
)
