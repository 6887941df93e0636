/** Attempts and reverts of lines, which are stored together with the ends of the lines: one part of the contract of Batches. */
import { type Vitest, expect } from "@effect/vitest"
import { Duration, Effect, Option, Result } from "effect"
import type { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type {
  Batches,
  LineAttempt,
  LineImport,
  ChunkInHand,
  LineRevert
} from "../src/batches/Batches.ts"
import { type ImportKey, PayloadHash } from "../src/imports/ImportProcess.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { Reverts, type RevertOrder } from "../src/imports/Reverts.ts"
import { ValidationFailed, AccountNumberDiffers } from "../src/requests/Failure.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import {
  type Begun,
  finish,
  found,
  processSettings,
  started,
  taken,
  endOf
} from "./begunBatches.ts"
import { expectSame, freshAttempt, noonPlus } from "./freshNames.ts"
import {
  accountFor,
  attemptOf,
  ending,
  importOf,
  keyOf,
  leftOf,
  storeSingly,
  teamExists
} from "./lineImports.ts"

type Ports = Accounts | AuditLog | Batches | Configuration | ImportProcesses | Reverts

const otherHash = PayloadHash.make("b".repeat(64))

const invalid = new ValidationFailed({
  code: "account_failed_validation",
  errors: [{ attr: "billing_email", code: "invalid", detail: "Not an e-mail address." }]
})

const later = noonPlus(20)

type Judge = (key: ImportKey) => LineAttempt["judgement"]

const creating: Judge = (key) => Result.succeed({ ...accountFor(key), createdAt: later })

const refusing: Judge = () => Result.fail(invalid)

const judgements: ReadonlyArray<readonly [string, Judge, isDryRun: boolean]> = [
  ["creates its account", creating, false],
  ["is refused", refusing, false],
  ["would create its account", creating, true],
  ["would be refused", refusing, true]
]

const begunBatch = Effect.andThen(
  teamExists,
  Effect.suspend(() => started(["a", "b"], processSettings))
)

/** Stages the imports; returns the attempts that lines make at them. */
const attempting = Effect.fnUntraced(function* (
  batch: Begun,
  numbers: ReadonlyArray<string>,
  judge: Judge,
  dryRun: boolean
) {
  return yield* Effect.forEach(
    numbers,
    Effect.fnUntraced(function* (number) {
      const key = keyOf(batch, number)
      yield* storeSingly(importOf(key), batch.caller)
      const attempt = attemptOf(judge(key), dryRun)
      return { ...importOf(key), at: later, staging: null, attempt } satisfies LineImport
    })
  )
})

export const lineAttempts = (it: Vitest.MethodsNonLive<Ports>): void => {
  it.effect.each(judgements)(
    "stores an attempt that %s as single steps do",
    ([, judge, isDryRun]) =>
      Effect.gen(function* () {
        const batch = yield* begunBatch
        const { caller } = batch
        const [single, ...made] = yield* attempting(batch, ["single", "a", "b"], judge, isDryRun)
        if (single === undefined) throw new Error("There are three attempts")
        yield* storeSingly(single, caller)
        const chunk = yield* taken()
        const refused = yield* finish(chunk, [], { imports: ending(chunk, made), caller })
        expect(refused).toEqual(new Set())
        expect((yield* found(batch)).counts).toMatchObject({ received: 2, succeeded: 2 })
        const createdBy = ({ attempt }: LineImport) =>
          attempt === null || attempt.dryRun
            ? null
            : Option.getOrNull(Result.getSuccess(attempt.judgement))
        const expected = yield* leftOf(single.key, createdBy(single))
        expect(expected.attempts).toHaveLength(1)
        for (const each of made) expectSame(yield* leftOf(each.key, createdBy(each)), expected)
      })
  )

  type Change = (made: LineImport, caller: Caller) => Effect.Effect<unknown, unknown, Ports>
  const changes: ReadonlyArray<readonly [string, Change]> = [
    [
      "was staged with another payload",
      ({ key }, caller) => storeSingly({ ...importOf(key), hash: otherHash }, caller)
    ],
    [
      "was skipped",
      ({ at, key }) =>
        Effect.flatMap(ImportProcesses, ({ setSkipped }) => setSkipped({ key, skipped: true, at }))
    ],
    [
      "is being attempted",
      ({ at, key }, caller) =>
        Effect.flatMap(ImportProcesses, ({ claim }) =>
          claim({
            ...{ key, attempt: freshAttempt(), dryRun: true, caller, at },
            lease: Duration.seconds(60),
            limits: { deployment: null, supplier: null }
          })
        )
    ],
    ["was imported", ({ key }, caller) => storeSingly(importOf(key, accountFor(key)), caller)],
    [
      "was imported and reverted",
      Effect.fnUntraced(function* ({ at, key }, caller) {
        const newAccount = accountFor(key)
        yield* storeSingly(importOf(key, newAccount), caller)
        const { number } = newAccount
        const order = { key, number, reason: "Wrong", decide: () => Result.succeed(true) }
        yield* (yield* Reverts).revert({ ...order, dryRun: false, caller, at })
      })
    ]
  ]
  it.effect.each(changes)("leaves an import that %s since it was judged", ([, change]) =>
    Effect.gen(function* () {
      const batch = yield* begunBatch
      const { caller } = batch
      const made = yield* attempting(batch, ["a", "b"], creating, false)
      const [changed, other] = made as [LineImport, LineImport]
      const chunk = yield* taken()
      yield* change(changed, caller)
      const before = yield* leftOf(changed.key, null)
      expect(yield* finish(chunk, [], { imports: ending(chunk, made), caller })).toEqual(new Set())
      expectSame(yield* leftOf(changed.key, null), before)
      const { find } = yield* ImportProcesses
      expect(Option.getOrThrow(yield* find(other.key)).account).not.toBe(null)
      expect((yield* found(batch)).counts).toMatchObject({ received: 2, succeeded: 1 })
      expect((yield* taken()).lines.map(({ line }) => line)).toEqual([1])
    })
  )
}

/** An account of each number, and the order to revert it unless its number differs. */
const reverting = Effect.fnUntraced(function* (batch: Begun, numbers: ReadonlyArray<string>) {
  yield* teamExists
  return yield* Effect.forEach(
    numbers,
    Effect.fnUntraced(function* (each) {
      const key = keyOf(batch, each)
      const account = accountFor(key)
      yield* storeSingly(importOf(key, account), batch.caller)
      const { number } = account
      const decide: RevertOrder["decide"] = ({ details: { process } }) =>
        process.account?.number === number
          ? Result.succeed(true)
          : Result.fail(new AccountNumberDiffers({ key, accountNumber: number }))
      return { key, number, reason: "Wrong sign", decide } satisfies RevertOrder
    })
  )
})

const ofLines = (
  { lines }: ChunkInHand,
  orders: ReadonlyArray<RevertOrder>
): ReadonlyArray<LineRevert> =>
  lines.flatMap((line, index) => {
    const order = orders[index]
    return order === undefined
      ? []
      : [{ ...order, line: line.line, endOf: () => endOf("SUCCEEDED")(line) }]
  })

export const lineReverts = (it: Vitest.MethodsNonLive<Ports>): void => {
  const at = noonPlus(60)

  it.effect("reverts for lines as single steps do", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b"])
      const { caller } = batch
      const [single, ...orders] = yield* reverting(batch, ["single", "a", "b"])
      if (single === undefined) throw new Error("There are three orders")
      yield* (yield* Reverts).revert({ ...single, dryRun: false, caller, at })
      const chunk = yield* taken()
      const refused = yield* finish(chunk, [], { reverts: ofLines(chunk, orders), caller, at })
      expect(refused).toEqual(new Set())
      expect((yield* found(batch)).counts).toMatchObject({ received: 2, succeeded: 2 })
      const expected = yield* leftOf(single.key, null)
      expect(expected.audit.at(-1)).toEqual(["revert_import", "reverted"])
      for (const { key } of orders) expectSame(yield* leftOf(key, null), expected)
    })
  )

  it.effect("reverts for no line if it cannot for some, and names these", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b"])
      const { caller } = batch
      const orders = yield* reverting(batch, ["a", "b"])
      const chunk = yield* taken()
      const { find } = yield* ImportProcesses
      const [a, b] = orders as [RevertOrder, RevertOrder]
      yield* (yield* Reverts).revert({ ...b, dryRun: false, caller, at })
      const reverts = ofLines(chunk, orders)
      expect(yield* finish(chunk, [], { reverts, caller, at })).toEqual(new Set([2]))
      expect(Option.getOrThrow(yield* find(a.key)).account?.number).toBe(a.number)
      const [one] = ofLines(chunk, [a])
      const ended = chunk.lines.slice(1).map(endOf("FAILED"))
      yield* finish(chunk, ended, { reverts: one === undefined ? [] : [one], caller, at })
      expect(Option.getOrThrow(yield* find(a.key)).account).toBe(null)
      expect((yield* found(batch)).counts).toMatchObject({ succeeded: 1, failed: 1 })
    })
  )
}
