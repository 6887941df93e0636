/** Properties of every payload: valid, damaged or arbitrary. */
import { describe, expect, it } from "@effect/vitest"
import { BigDecimal, Result } from "effect"
import fc from "fast-check"
import { encodeAccount, openingBalance } from "../src/accounts/Account.ts"
import {
  accountRequest,
  factsAt,
  processRequest,
  validateUnknownAccount
} from "../src/accounts/AccountValidation.ts"
import { registry } from "../src/codes/Code.ts"
import type { FieldError } from "../src/schema/FieldErrors.ts"
import { parse } from "../src/schema/Json.ts"
import { accountPayload } from "../testing/arbitraries.ts"
import { sampleTime } from "../testing/samples.ts"
import { drop, objectsAt, put } from "../testing/wire.ts"
import { damaged } from "./damagedPayloads.ts"
import { errorsIn } from "./validationErrors.ts"

const slow = { timeout: 60_000 }

const accepted = (payload: unknown) => {
  const result = validateUnknownAccount(payload, sampleTime)
  if (Result.isSuccess(result)) return result.success
  throw new Error(result.failure.map(({ attr, code }) => `${attr} ${code}`).join(", "))
}

describe("a valid payload", () => {
  it("is still valid after it is stored, and is stored the same again", slow, () => {
    fc.assert(
      fc.property(accountPayload(), (payload) => {
        const stored = JSON.stringify(encodeAccount(accepted(payload)))
        const read = accepted(Result.getOrThrow(parse(stored)))
        expect(JSON.parse(JSON.stringify(encodeAccount(read)))).toEqual(JSON.parse(stored))
      })
    )
  })

  it("is stored with exactly the members that were sent", slow, () => {
    const shapeOf = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shapeOf)
      if (typeof value !== "object" || value === null) return value === null ? null : "value"
      const members = Object.entries(value).map(([name, member]) => [name, shapeOf(member)])
      return Object.fromEntries(members) as unknown
    }
    fc.assert(
      fc.property(accountPayload(), (payload) => {
        expect(shapeOf(encodeAccount(accepted(payload)))).toEqual(shapeOf(payload))
      })
    )
  })

  it("has an opening balance that is the exact sum of whole hundredths", slow, () => {
    const hundredths = (value: unknown): bigint => {
      const [whole = "0", fraction = ""] = String(value).trim().split(".")
      const digits = BigInt(whole.replace("-", "") + fraction.padEnd(2, "0").slice(0, 2))
      return whole.startsWith("-") ? -digits : digits
    }
    fc.assert(
      fc.property(accountPayload(), (payload) => {
        const ledgers = objectsAt(payload, "ledgers")
        const ofLedgers = ledgers.map((ledger) => {
          const current = objectsAt(ledger, "current_statement_transactions")
          return current.reduce(
            (sum, { amount, type }) => {
              const raises = type === "PAYMENT" || type === "CREDIT"
              return raises ? sum + hundredths(amount) : sum - hundredths(amount)
            },
            hundredths(ledger["last_statement_balance"] ?? 0)
          )
        })
        const transfer = ledgers.length === 0 ? hundredths(payload["transfer_balance"] ?? 0) : 0n
        const expected = ofLedgers.reduce((sum, balance) => sum + balance, transfer)
        const balance = openingBalance(accepted(payload))
        expect(BigDecimal.scale(balance, 2).value).toBe(expected)
      })
    )
  })

  it("is refused when any amount changes by a cent", slow, () => {
    const payloads = accountPayload().filter((payload) =>
      objectsAt(payload, "ledgers").some((ledger) => "ledger_balance" in ledger)
    )
    fc.assert(
      fc.property(payloads, fc.bigInt({ min: 1n, max: 1_000n }), (payload, cents) => {
        const index = objectsAt(payload, "ledgers").findIndex(
          (ledger) => "ledger_balance" in ledger
        )
        const { ledgers = [] } = accepted(payload)
        const balance = ledgers[index]?.ledger_balance ?? BigDecimal.fromBigInt(0n)
        const other = BigDecimal.format(BigDecimal.sum(balance, BigDecimal.make(cents, 2)))
        const path = `ledgers.${index}`
        const without = drop(payload, "transfer_balance")
        expect(errorsIn(put(without, `${path}.ledger_balance`, other))).toEqual([
          `${path} balance_mismatch_on_ledger_balance`
        ])
      })
    )
  })
})

const areWellFormed = (errors: ReadonlyArray<FieldError>): void => {
  expect(errors.length).toBeGreaterThan(0)
  for (const { code, detail } of errors) {
    expect(Object.keys(registry)).toContain(code)
    expect(registry[code].kind).not.toBe("request")
    expect(detail).not.toBe("")
  }
  const places = errors.map(({ attr, code }) => `${attr} ${code}`)
  expect(places.length - new Set(places).size, `repeated: ${places.join(", ")}`).toBe(0)
}

describe("an invalid payload", () => {
  const facts = factsAt(sampleTime)

  it("of any damage has only errors with registered codes", slow, () => {
    fc.assert(
      fc.property(accountPayload().chain(damaged), (payload) => {
        const result = validateUnknownAccount(payload, sampleTime)
        if (Result.isFailure(result)) areWellFormed(result.failure)
        else expect(errorsIn(JSON.parse(JSON.stringify(encodeAccount(result.success))))).toEqual([])
      })
    )
  })

  it("of any JSON is validated without an exception", slow, () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: "binary" }), (value) => {
        const results: ReadonlyArray<Result.Result<unknown, ReadonlyArray<FieldError>>> = [
          validateUnknownAccount(value, sampleTime),
          accountRequest.validate(value, facts),
          accountRequest.validate({ payload: value }, facts),
          processRequest.validate({ payload: value, task_params: value }, facts)
        ]
        for (const result of results) if (Result.isFailure(result)) areWellFormed(result.failure)
      }),
      { numRuns: 500 }
    )
  })
})
