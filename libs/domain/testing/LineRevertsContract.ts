/**
 * Reverts of lines, which are stored together with the ends of the lines: one part of the contract
 * of `Batches`.
 */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import type { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { Batches, ChunkInHand, LineRevert } from "../src/batches/Batches.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { type RevertOrder, Reverts } from "../src/imports/Reverts.ts"
import { AccountNumberDiffers } from "../src/requests/Failure.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { type Begun, endOf, finish, found, started, taken } from "./begunBatches.ts"
import { expectSame, noonPlus } from "./freshNames.ts"
import { accountFor, importOf, keyOf, leftOf, storeSingly, teamExists } from "./lineImports.ts"

type Ports = Accounts | AuditLog | Batches | Configuration | ImportProcesses | Reverts

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
