/** Any valid account is stored as it was sent, after validating, staging and processing. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { MemoryStore } from "../testing/memory/Store.ts"
import { encodeAccount } from "../src/accounts/Account.ts"
import { accountPayload } from "../testing/arbitraries.ts"
import { mutant } from "../testing/mutants.ts"
import { accept } from "./validationErrors.ts"
import { begin, demo, errorsOf, ports, programs, supplierCode, team } from "./importPrograms.ts"

const payloads = accountPayload({ supplier: supplierCode })

it.effect("an account is stored exactly as it was sent", () =>
  Effect.gen(function* () {
    yield* begin({ documentCheck: false })
    const program = yield* programs()
    const { accounts } = yield* MemoryStore
    const sent = new Map(
      fc.sample(payloads, 30).map((payload) => [payload["external_account_number"], payload])
    )
    for (const [external_account_number, payload] of sent) {
      const pair = { import_supplier: supplierCode, external_account_number }
      const staged = yield* program.stage(demo, { payload })
      expect(staged).toMatchObject({ first: true, key: pair })
      const body = { payload: { ...pair, operations_team_name: team } }
      const { kraken_account_number } = yield* program.process(demo, body)
      const made = accounts.get(kraken_account_number)
      expect(made && encodeAccount(made.account)).toEqual(accept(payload))
      expect(JSON.stringify(made?.key)).toBe(JSON.stringify(staged.key))
    }
    expect(accounts.size).toBe(sent.size)
  }).pipe(Effect.provide(ports))
)

it.effect("an account with an error is refused with that error at every stage", () =>
  Effect.gen(function* () {
    yield* begin({ documentCheck: false })
    const program = yield* programs()
    const { imports } = yield* MemoryStore
    for (const { body, error, name } of fc.sample(
      payloads.chain((payload) => mutant(payload)),
      30
    )) {
      const failure = yield* Effect.flip(program.stage(demo, { payload: body }))
      expect(errorsOf(failure), name).toEqual([`${error.attr} ${error.code}`])
    }
    expect(imports.size).toBe(0)
  }).pipe(Effect.provide(ports))
)
