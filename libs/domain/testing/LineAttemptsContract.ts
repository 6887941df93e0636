/**
 * Attempts of lines at what is staged, which are stored together with the ends of the lines: one
 * part of the contract of `Batches`.
 */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { Duration, Effect, Option, Result } from "effect"
import type { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { Batches, LineAttempt, LineImport } from "../src/batches/Batches.ts"
import { type ImportKey, PayloadHash } from "../src/imports/ImportProcess.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { Reverts } from "../src/imports/Reverts.ts"
import { ValidationFailed } from "../src/requests/Failure.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import { type Begun, finish, found, processSettings, started, taken } from "./begunBatches.ts"
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
