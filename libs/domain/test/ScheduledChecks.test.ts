/** The scheduled checks of the query service. */
import { expect, it } from "@effect/vitest"
import {
  BigDecimal,
  Duration,
  Effect,
  Exit,
  Fiber,
  Latch,
  Layer,
  Logger,
  Metric,
  References,
  Stream
} from "effect"
import { TestClock } from "effect/testing"
import type { AccountNumber } from "../src/accounts/Account.ts"
import { makeScheduledChecks } from "../src/checks/ScheduledChecks.ts"
import { layerMemory as accounts } from "../testing/memory/Accounts.ts"
import { layerMemory as checks } from "../testing/memory/Checks.ts"
import { layerMemory as configuration } from "../testing/memory/Configuration.ts"
import { layerMemory as hashing } from "../testing/memory/Hashing.ts"
import { layerMemory as importProcesses } from "../testing/memory/ImportProcesses.ts"
import { layerMemory as eventLog } from "../testing/memory/EventLog.ts"
import { layerMemory as sealedAuditLog } from "../testing/memory/SealedAuditLog.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import { SealedAuditLog } from "../src/audit/SealedAuditLog.ts"
import { Accounts } from "../src/accounts/Accounts.ts"
import { Checks } from "../src/checks/Checks.ts"
import { EventLog } from "../src/events/EventLog.ts"
import { Hashing } from "../src/requests/Hashing.ts"
import { StorageUnavailable } from "../src/requests/StorageUnavailable.ts"
import { noon } from "../testing/freshNames.ts"
import { importedFrom } from "../testing/hashedAccounts.ts"
import { adding, changeAccount, creditOf } from "../testing/importedAccounts.ts"

const ports = Layer.mergeAll(
  accounts,
  checks,
  configuration,
  eventLog,
  hashing,
  importProcesses,
  sealedAuditLog,
  MemoryStore.layer
)

interface Line {
  readonly message: unknown
  readonly check: unknown
  readonly subject: unknown
}

const pause = Duration.minutes(1)

/** `count` accounts and their checks. */
const arrange = Effect.fnUntraced(function* (count: number) {
  yield* TestClock.setTime(noon.epochMilliseconds)
  const made = yield* Effect.forEach(Array.from({ length: count }), () =>
    importedFrom({ unknown_occupier: true })
  )
  yield* (yield* EventLog).assignPositions(10_000)
  const port = yield* Checks
  const read: Array<bigint> = []
  const seen = {
    ...port,
    accounts: (slice: Parameters<typeof port.accounts>[0]) => {
      read.push(slice.after)
      return port.accounts(slice)
    }
  }
  const shared = {
    accounts: yield* Accounts,
    hashing: yield* Hashing,
    sealed: yield* SealedAuditLog
  }
  const scheduled = makeScheduledChecks({ ...shared, checks: seen })
  return { made, read, scheduled, port: seen, shared }
})

/** Makes the balance of an account differ from the sum of its transactions. */
const alterBalance = Effect.fnUntraced(function* (
  account: Effect.Success<ReturnType<typeof importedFrom>>,
  by: string
) {
  yield* changeAccount(account, (view) => ({
    ...adding(creditOf(crypto.randomUUID()))(view),
    balance: BigDecimal.sumAll([view.balance, BigDecimal.fromStringUnsafe(by)])
  }))
  yield* (yield* EventLog).assignPositions(10_000)
})

const gauge = (check: string) =>
  Effect.map(
    Metric.snapshot,
    (metrics) =>
      metrics.find(
        ({ attributes, id }) =>
          id === "data_import_check_differences" && attributes?.["check"] === check
      )?.state
  )

it.effect.each([
  { aMinute: 5, first: [0n], later: [5n], seconds: 60 },
  { aMinute: 20, first: [0n], later: [10n], seconds: 30 },
  { aMinute: 33, first: [0n], later: [10n], seconds: 18.182 },
  { aMinute: 200, first: [0n, 10n], later: [20n], seconds: 6 },
  { aMinute: 300, first: [0n, 10n, 20n], later: [0n, 10n, 20n], seconds: 6 }
] as const)("spread $aMinute accounts over a minute", ({ aMinute, first, later, seconds }) =>
  Effect.gen(function* () {
    const { read, scheduled } = yield* arrange(25)
    const running = yield* Effect.forkChild(scheduled.run(aMinute))
    yield* TestClock.adjust("1 second")
    expect(read).toEqual(first)
    yield* TestClock.adjust(Duration.seconds(seconds - 2))
    expect(read).toEqual(first)
    yield* TestClock.adjust("1 second")
    expect(read).toEqual([...first, ...later])
    yield* Fiber.interrupt(running)
  }).pipe(Effect.provide(ports))
)

it.effect("are shared by all instances", () =>
  Effect.gen(function* () {
    const { read, scheduled } = yield* arrange(25)
    const instances = Array.from({ length: 3 }, () => scheduled.run(10))
    const running = yield* Effect.forkChild(Effect.all(instances, { concurrency: 3 }))
    yield* TestClock.adjust("1 second")
    expect(read).toEqual([0n])
    yield* TestClock.adjust("1 minute")
    expect(read).toEqual([0n, 10n])
    yield* Fiber.interrupt(running)
  }).pipe(Effect.provide(ports))
)

it.effect("raise the metric and log a difference once, until it is resolved", () => {
  const lines: Array<Line> = []
  const logger = Logger.make<unknown, void>(({ fiber, message }) => {
    const { check, subject } = fiber.getRef(References.CurrentLogAnnotations)
    lines.push({ message, check, subject })
  })
  return Effect.gen(function* () {
    const { made, scheduled } = yield* arrange(3)
    const [, account] = made
    if (account === undefined) throw new Error("There is no account")
    const running = yield* Effect.forkChild(scheduled.run(200))
    yield* TestClock.adjust("1 second")
    expect(yield* gauge("balance")).toMatchObject({ value: 0 })
    yield* alterBalance(account, "10.01")
    for (const _ of [1, 2, 3]) yield* TestClock.adjust("1 minute")
    expect(yield* gauge("balance")).toMatchObject({ value: 1 })
    expect(yield* gauge("payload_hash")).toMatchObject({ value: 0 })
    const message = ["a scheduled check found a difference: balance"]
    expect(lines).toEqual([{ message, check: "balance", subject: "2" }])
    const [standing] = yield* (yield* Checks).differences({ walk: null, limit: 1 })
    expect(standing).toMatchObject({
      name: account.number,
      detail: "balance 10.01, sum of effects 10.00, difference 0.01"
    })
    yield* alterBalance(account, "9.99")
    yield* TestClock.adjust("1 minute")
    expect(yield* gauge("balance")).toMatchObject({ value: 0 })
    yield* Fiber.interrupt(running)
  }).pipe(Effect.provide([ports, Logger.layer([logger])]))
})

it.effect("continue in one instance while another one is stuck, which then stops", () =>
  Effect.gen(function* () {
    const { port, read, scheduled, shared } = yield* arrange(45)
    const latch = yield* Latch.make()
    const slow = {
      ...port,
      accounts: (slice: Parameters<typeof port.accounts>[0]) =>
        Effect.tap(port.accounts(slice), latch.await)
    }
    const stuck = makeScheduledChecks({ ...shared, checks: slow })
    const turn = yield* Effect.forkChild(stuck.turn({ accounts: 20, pause }))
    yield* TestClock.adjust("2 minutes")
    expect(read).toEqual([0n])
    yield* scheduled.turn({ accounts: 20, pause })
    expect(read.slice(1)).toEqual([0n, 10n])
    yield* latch.open
    expect((yield* Fiber.join(turn)).checked.accounts).toBe(10)
    yield* scheduled.turn({ accounts: 20, pause: Duration.zero })
    expect(read.slice(3)).toEqual([20n, 30n])
  }).pipe(Effect.provide(ports))
)

it.effect("check the rest although one walk meets a defect", () =>
  Effect.gen(function* () {
    const { port, shared } = yield* arrange(3)
    const broken = { ...port, accounts: () => Effect.die(new Error("A row is broken")) }
    const { turn } = makeScheduledChecks({ ...shared, checks: broken })
    yield* importedFrom({ unknown_occupier: true })
    yield* TestClock.adjust("2 minutes")
    const exit = yield* Effect.exit(turn({ accounts: 20, pause }))
    expect(Exit.hasDies(exit)).toBe(true)
    expect(yield* gauge("event_lag")).toMatchObject({ value: 1 })
  }).pipe(Effect.provide(ports))
)

it.effect("report an account that cannot be read back", () =>
  Effect.gen(function* () {
    const { made, port, shared } = yield* arrange(3)
    const unreadable = made[1]?.number
    const accountsPort = {
      ...shared.accounts,
      describe: (numbers: ReadonlyArray<AccountNumber>) =>
        unreadable !== undefined && numbers.includes(unreadable)
          ? Stream.die(new Error("A row is broken"))
          : shared.accounts.describe(numbers)
    }
    const { checkAll } = makeScheduledChecks({ ...shared, accounts: accountsPort, checks: port })
    const { checked, differences } = yield* checkAll
    expect(checked.accounts).toBe(3)
    const detail = `payload ${made[1]?.hash}, account unreadable`
    expect(differences).toMatchObject([{ check: "payload_hash", subject: 2n, detail }])
  }).pipe(Effect.provide(ports))
)

it.effect("continue after a failure where they were", () =>
  Effect.gen(function* () {
    const { port, read, shared } = yield* arrange(25)
    let away = true
    const failing = {
      ...port,
      conclude: (command: Parameters<typeof port.conclude>[0]) =>
        away && command.after === 10n
          ? Effect.fail(new StorageUnavailable({}))
          : port.conclude(command)
    }
    const scheduled = makeScheduledChecks({ ...shared, checks: failing })
    const running = yield* Effect.forkChild(scheduled.run(200))
    yield* TestClock.adjust("1 second")
    expect(read).toEqual([0n, 10n])
    away = false
    yield* TestClock.adjust("6 seconds")
    expect(read.slice(2)).toEqual([10n, 20n])
    yield* Fiber.interrupt(running)
  }).pipe(Effect.provide(ports))
)
