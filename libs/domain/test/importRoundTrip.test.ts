/** Any valid account is stored as it was sent, after validating, staging and processing. */
import { expect, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import fc from "fast-check"
import type { ImportKey } from "../src/imports/ImportProcess.ts"
import { Accounts } from "../src/accounts/Accounts.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { encodeDescription } from "../testing/describedAccounts.ts"
import { noonPlus } from "../testing/freshNames.ts"
import { adding, card, changeAccount, creditOf } from "../testing/importedAccounts.ts"
import { world } from "./postImportPrograms.ts"
import { accountPayload } from "../testing/arbitraries.ts"
import { begin, demo, importRevert, programs, supplierCode, team } from "./importPrograms.ts"

const payloads = accountPayload({ supplier: supplierCode })

/** Processes the import; returns the number of the account, and the rest of what is stored. */
const processed = Effect.fnUntraced(function* (key: ImportKey) {
  const body = { payload: { ...key, operations_team_name: team } }
  const { kraken_account_number } = yield* (yield* programs()).process(demo, body)
  const described = yield* Stream.runHead((yield* Accounts).describe([kraken_account_number]))
  const { kraken_account_number: number, ...account } = encodeDescription(
    Option.getOrThrow(described)
  )
  const details = yield* (yield* ImportProcesses).details(key, 0)
  const { hash, stagedAt } = Option.getOrThrow(details)
  return { number, rest: { account, hash, stagedAt } }
})

/** Adds to the account, and reverts it; its payload may have been deleted before. */
const reverted = Effect.fnUntraced(function* (key: ImportKey, number: string, isOld: boolean) {
  yield* changeAccount({ key, caller: demo }, (view) => ({
    ...adding(creditOf("the same id"))(view),
    instruction: card
  }))
  const imports = yield* ImportProcesses
  if (isOld) yield* imports.deletePayloads({ importedBefore: noonPlus(1e6), limit: 9 })
  const payload = { kraken_account_number: number, reason: "wrong sign", with_additions: true }
  yield* (yield* importRevert()).revert(demo, key, { payload }, null)
})

it.effect("an account that is reverted and processed again is as it was the first time", () =>
  Effect.gen(function* () {
    yield* begin({ documentCheck: false })
    const program = yield* programs()
    const rounds = fc.array(fc.boolean(), { minLength: 1, maxLength: 4 })
    for (const [index, [sent, olds]] of fc.sample(fc.tuple(payloads, rounds), 20).entries()) {
      const payload = { ...sent, external_account_number: `R-${index}` }
      const { key } = yield* program.stage(demo, { payload })
      const first = yield* processed(key)
      let { number } = first
      for (const isOld of olds) {
        yield* reverted(key, number, isOld)
        const again = yield* processed(key)
        expect(again.number).not.toBe(number)
        expect(again.rest).toEqual(first.rest)
        number = again.number
      }
    }
  }).pipe(Effect.provide(world))
)
