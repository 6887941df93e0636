/** Values that break parsers, databases or prototypes are refused with 400. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { put, type Wire } from "@data-import/domain/testing/wire"
import { team } from "@data-import/postgres/testing/serviceDatabase"
import { rows } from "@data-import/postgres/testing/rows"
import { errorsOf, post, Premises } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import {
  accountOf,
  processPath,
  service,
  stage,
  stagePath,
  validate,
  validatePath,
  withSource
} from "./importService.ts"

type Path = ReadonlyArray<string | number>

/** Every value in a body with its path, except the body itself. */
const placesIn = (value: unknown, path: Path = []): ReadonlyArray<readonly [Path, unknown]> => {
  if (typeof value !== "object" || value === null) return [[path, value]]
  const members = Array.isArray(value)
    ? value.map((element, index) => [index, element] as const)
    : Object.entries(value)
  const inside = members.flatMap(([name, member]) => placesIn(member, [...path, name]))
  return path.length === 0 ? inside : [[path, value], ...inside]
}

/** Runs several at once, so that they do not wait for the database one by one. */
const forEachPlace = <A, E, R>(
  places: ReturnType<typeof placesIn>,
  check: (place: readonly [Path, unknown]) => Effect.Effect<A, E, R>
) => Effect.forEach(places, check, { concurrency: 16, discard: true })

const failed = "account_failed_validation"

layer(service, { excludeTestServices: true })("a hostile value", (it) => {
  describe("at any place", () => {
    const values = {
      "another type": `{"a":1}`,
      "a list of lists": `[[[]]]`,
      null: "null",
      "an endless number": "1e400",
      "a number too long": "12345678901234567890",
      "an empty text": `""`
    }
    it.effect.each(Object.entries(values))("is answered 200 or 400: %s", ([, source]) =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const account = accountOf(tenant.keyOf("1"))
        yield* forEachPlace(placesIn(account), ([path]) =>
          Effect.gen(function* () {
            const body = withSource({ payload: account }, ["payload", ...path], source)
            const reply = yield* post(validatePath, tenant.token, body)
            expect([200, 400], `${path.join(".")}: ${reply.text}`).toContain(reply.status)
            if (reply.status === 400) expect(errorsOf(reply)[0]).toBe(failed)
          })
        )
      })
    )
  })

  describe("that is a text that PostgreSQL cannot store", () => {
    /** The codes of fields with their own formats. */
    const codes = /: invalid(_(?!type)\w+)?$/

    it.effect.each([
      ["NUL", "\\u0000"],
      ["a lone surrogate", "\\ud800"]
    ])("is refused at its place, wherever it stands: %s", ([, escape]) =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const account = accountOf(tenant.keyOf("1"))
        const texts = placesIn(account).filter(
          ([path, value]) => typeof value === "string" && path[0] !== "import_supplier"
        )
        expect(texts.length).toBeGreaterThan(80)
        yield* forEachPlace(texts, ([path, value]) =>
          Effect.gen(function* () {
            const source = `${JSON.stringify(value).slice(0, -1)}${escape}"`
            const body = withSource({ payload: account }, ["payload", ...path], source)
            const [code, ...errors] = errorsOf(yield* post(stagePath, tenant.token, body))
            expect(code).toBe(failed)
            expect(errors).toHaveLength(1)
            expect(errors[0]).toMatch(codes)
            expect(errors[0]?.replace(codes, "")).toBe(path.join("."))
          })
        )
      })
    )

    it.effect("is refused in field names", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const account = accountOf(tenant.keyOf("1"))
        for (const name of ["\0", "\ud800", "a\udfff"]) {
          const places: ReadonlyArray<readonly [Path, string]> = [
            [[name], `${name}: unknown_field`],
            [["customers", 0, name], `customers.0.${name}: unknown_field`],
            [["metadata", 0, "value", name], "metadata.0.value: invalid"],
            [["metadata", 0, "value", "a", name], "metadata.0.value.a: invalid"]
          ]
          for (const [path, error] of places) {
            const reply = yield* stage(tenant, put(account, path, 1))
            expect(errorsOf(reply)).toEqual([failed, error])
          }
        }
      })
    )

    it.effect("is refused in a process request, and recorded", () =>
      Effect.gen(function* () {
        const { apiKey, keyOf, token } = yield* freshTenant()
        const request = { ...keyOf("1"), operations_team_name: team }
        const fields = Object.keys(request)
        for (const field of fields) {
          for (const text of ["\0", "1\0", "\ud800", "1\udfff"]) {
            const reply = yield* post(processPath, token, {
              payload: { ...request, [field]: text }
            })
            expect(reply.status).toBe(400)
            expect(errorsOf(reply)).toContainEqual(`${field}: invalid`)
          }
        }
        const recorded = yield* rows(
          (sql) => sql`
          select outcome, import_supplier, external_account_number from audit_log
          where api_key = ${apiKey.id} order by id`
        )
        const { external_account_number, import_supplier } = keyOf("1")
        expect(recorded).toEqual([
          { outcome: failed, import_supplier: null, external_account_number: null },
          { outcome: failed, import_supplier, external_account_number: null },
          { outcome: failed, import_supplier, external_account_number }
        ])
      })
    )
  })

  describe("that is a number", () => {
    const numbers: ReadonlyArray<readonly [Path, string, ReadonlyArray<string>]> = [
      [["transfer_balance"], "1e400", ["max_digits"]],
      [["transfer_balance"], "1e-400", ["max_decimal_places"]],
      [["transfer_balance"], "1e999999999999", ["max_digits", "max_decimal_places"]],
      [["transfer_balance"], "0.30000000000000001", ["max_digits", "max_decimal_places"]],
      [["transfer_balance"], "12345678901234567890", ["max_digits"]],
      [["transfer_balance"], "12345678901", ["max_digits"]],
      [["transfer_balance"], "1.005", ["max_decimal_places"]],
      [["transfer_balance"], `"1.005"`, ["max_decimal_places"]],
      [["transfer_balance"], `"1e2"`, ["invalid"]],
      [["transfer_balance"], `"12,50"`, ["invalid"]],
      [["transfer_balance"], `"+1"`, ["invalid"]],
      [["transfer_balance"], `"Infinity"`, ["invalid"]],
      [["transfer_balance"], `"0x10"`, ["invalid"]],
      [["transfer_balance"], `"١٢"`, ["invalid"]],
      [["account_billing_options", "period_start_day"], "1e400", ["invalid_type"]],
      [["account_billing_options", "period_start_day"], "20.5", ["invalid_type"]],
      [["account_billing_options", "period_start_day"], `"20"`, ["invalid_type"]],
      [["billing_name"], "12345678901234567890", ["invalid_type"]],
      [["customers"], "1e400", ["not_a_list"]],
      [["billing_address"], "1e400", ["not_an_object"]],
      [["metadata", 0, "value"], "1e400", ["not_an_object"]],
      [["unknown_occupier"], "12345678901234567890", ["invalid_type"]]
    ]
    it.effect.each(numbers)("at %j, written %s, is %j", ([path, source, codes]) =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const key = tenant.keyOf("1")
        const account: Wire = {
          ...key,
          customers: [{ family_name: "Holm" }],
          account_billing_options: { period_length: "MONTHLY", period_start_day: 1 },
          billing_address: { country: "DK" },
          metadata: [{ key: "k", value: {} }]
        }
        const body = withSource({ payload: account }, ["payload", ...path], source)
        const at = path.join(".")
        const reply = yield* post(validatePath, tenant.token, body)
        expect(errorsOf(reply).filter((it) => it.startsWith(at))).toEqual(
          codes.map((code) => `${at}: ${code}`)
        )
      })
    )

    it.effect.each([
      ["50.10", 50.1],
      [`"50.10"`, 50.1],
      ["5010e-2", 50.1],
      ["0.5010E+2", 50.1],
      ["50.100000000000000000000", 50.1],
      ["-9999999999.99", -9999999999.99],
      [`"0009999999999.99"`, 9999999999.99],
      ["-0.00", 0]
    ] as const)("spelled %s is exactly %d", ([source, value]) =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const account = { ...tenant.keyOf("1"), unknown_occupier: true }
        const body = withSource({ payload: account }, "payload.transfer_balance", source)
        const reply = yield* post(validatePath, tenant.token, body)
        expect(reply.json).toStrictEqual({ ...account, transfer_balance: value })
      })
    )

    it.effect("may be sent as text, and an amount is answered with two decimals", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const account = (decimal: (value: number) => unknown) => ({
          ...tenant.keyOf("1"),
          unknown_occupier: true,
          transfer_balance: decimal(-12.5),
          ledgers: [
            {
              ledger_code: "L",
              last_statement_balance: decimal(0),
              ledger_balance: decimal(-12.5),
              current_statement_transactions: [
                {
                  transaction_id: "T",
                  transaction_date: "2025-01-01",
                  amount: decimal(12.5),
                  type: "SUPPLY_CHARGE",
                  product_code: "P",
                  line_items: [
                    {
                      start_date: "2025-01-01",
                      end_date: "2025-01-31",
                      number_of_units: decimal(4.0625),
                      net_amount: decimal(10.156),
                      price_per_unit: decimal(2.5),
                      units: [decimal(1), decimal(5.0625)]
                    }
                  ],
                  tax_items: [
                    {
                      amount: decimal(2.344),
                      tax_type: "VAT",
                      value_taxed: decimal(10.156),
                      rate: decimal(0.23),
                      unit_type: "PROPORTION"
                    }
                  ]
                }
              ]
            }
          ]
        })
        const asNumbers = yield* validate(
          tenant,
          account((value) => value)
        )
        const asTexts = yield* validate(tenant, account(String))
        const amount = "ledgers.0.current_statement_transactions.0.amount"
        expect(asNumbers.json).toStrictEqual(
          put(
            account((value) => value),
            amount,
            "12.50"
          )
        )
        expect(asTexts.text).toBe(asNumbers.text)
      })
    )
  })

  describe("in any request", () => {
    it.effect("does not change the prototype of objects", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const evil = `{"polluted":true}`
        for (const path of [
          "payload.__proto__",
          "__proto__",
          "payload.metadata.0.value.__proto__"
        ]) {
          const payload = { ...accountOf(tenant.keyOf("1")) }
          yield* post(stagePath, tenant.token, withSource({ payload }, path, evil))
        }
        expect({}).not.toHaveProperty("polluted")
      })
    )

    it.effect("does not appear in the log", () =>
      Effect.gen(function* () {
        const { log } = yield* Premises
        const tenant = yield* freshTenant()
        const account = put(accountOf(tenant.keyOf("canary")), "billing_email", "canary at home")
        yield* stage(tenant, { ...account, canary: "canary" })
        yield* post(stagePath, tenant.token, `{"canary":canary}`)
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        const text = log.join("")
        expect(text).toContain(stagePath)
        for (const secret of ["canary", "Astrid", tenant.token]) {
          expect(text).not.toContain(secret)
        }
      })
    )
  })
})
