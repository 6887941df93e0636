/** The operator is told what the scheduled checks have found, and checks at once. */
import { layerMemory as hashing } from "@data-import/domain/testing/memory/Hashing"
import { importedFrom } from "@data-import/domain/testing/hashedAccounts"
import { adding, changeAccount, creditOf } from "@data-import/domain/testing/importedAccounts"
import * as DeployedStorage from "@data-import/postgres/testing/DeployedStorage"
import { databaseUsersAt, freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { EventLog } from "@data-import/domain/events/EventLog"
import { exitStatusOf } from "@data-import/terminal/ExitStatus"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, it } from "@effect/vitest"
import { BigDecimal, Effect, Layer } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../Operator.ts"
import { arrange, operatorAs } from "./commandLine.ts"

/** An account to which 10.00 were added, and `by` to its balance. */
const accountWith = Effect.fnUntraced(function* (by: string) {
  const made = yield* importedFrom({ unknown_occupier: true })
  yield* changeAccount(made, (view) => ({
    ...adding(creditOf(crypto.randomUUID()))(view),
    balance: BigDecimal.sum(view.balance, BigDecimal.fromStringUnsafe(by))
  }))
  yield* (yield* EventLog).assignPositions(1_000)
  return made
}, Effect.provide(hashing))

it.effect("a check of everything that finds nothing tells what it has read", () =>
  Effect.gen(function* () {
    const { done, json, ports } = yield* arrange
    yield* Effect.provideContext(accountWith("10.00"), ports)
    expect(yield* done("check", "run")).toMatch(
      /^Checked 1 accounts, 0 batches and \d audit entries: 0 differences\.$/
    )
    expect(yield* json("check", "run")).toEqual([])
    expect(yield* json("check", "next")).toEqual([])
    expect(yield* json("check", "list")).toEqual([])
  })
)

it.effect.each(["run", "next"])("check %s lists a difference with its figures, and fails", (verb) =>
  Effect.gen(function* () {
    const { json, ports } = yield* arrange
    const { key, number } = yield* Effect.provideContext(accountWith("10.01"), ports)
    const args = ["check", verb, "--json"]
    const exit = yield* Effect.exit(
      Effect.provide(run(args, Layer.succeedContext(ports), "tester"), NodeServices.layer)
    )
    expect(exitStatusOf(exit)).toBe(1)
    const found = [
      {
        check: "balance",
        import_supplier: wireCode(key.import_supplier),
        name: number,
        number: "1",
        detail: "balance 10.01, sum of effects 10.00, difference 0.01",
        found_at: "2026-03-01T12:00:00Z"
      }
    ]
    expect(JSON.parse((yield* TestConsole.logLines).join("\n"))).toEqual(found)
    expect((yield* TestConsole.errorLines).join("\n")).toMatch(
      /Checked 1 accounts, .*: 1 difference/
    )
    expect(yield* json("check", "list")).toEqual(found)
  })
)

it.effect("the rights of the operator's database user suffice", () =>
  Effect.gen(function* () {
    const url = yield* freshUrl
    const users = databaseUsersAt(url)
    const deployed = yield* DeployedStorage.make(url, users)
    const { createTeam } = yield* Effect.provideContext(Configuration, deployed)
    yield* createTeam("Migration Team")
    yield* Effect.provideContext(accountWith("10.01"), deployed)
    const operator = operatorAs(users.operator)
    const checked = yield* operator("check", "run", "--json")
    expect(checked.done).toBe(false)
    expect(JSON.parse(checked.out)).toMatchObject([{ check: "balance" }])
    expect((yield* operator("check", "next")).done).toBe(false)
    expect((yield* operator("check", "list")).done).toBe(true)
  })
)
