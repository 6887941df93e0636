import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { domesticPayload, transactionsPayload } from "@data-import/domain/testing/samples"
import { drop, get, put, type Wire, withSource } from "@data-import/domain/testing/wire"
import { errorsOf, post } from "@data-import/server/testing/RunningService"
import {
  addTransactions,
  bareAccountOf,
  importedAccount,
  paths,
  service
} from "./postImportService.ts"

const added = "TRANSACTION_ADDED_TO_ACCOUNT"
const existed = "TRANSACTION_ALREADY_EXISTS"
const failed = "request_failed_validation"

interface Line {
  readonly status: string
  readonly transaction_data: Wire
}

const resultsOf = ({ json }: { readonly json: unknown }) =>
  (json as { readonly results: ReadonlyArray<Line> }).results
const statusesOf = (reply: { readonly json: unknown }) => resultsOf(reply).map((it) => it.status)

const withText = <Sent extends { readonly amount: number }>(sent: Sent) => ({
  ...sent,
  amount: sent.amount.toFixed(2)
})

const sampleWith = (index: number): Wire => {
  const transaction = transactionsPayload().transactions[index]
  if (transaction === undefined) throw new Error(`There is no sample ${index}`)
  return transaction
}
const [payment, credit, supplyCharge] = [0, 1, 2].map(sampleWith) as [Wire, Wire, Wire]
const charge = sampleWith(3)

const creditOf = (id: string, values: object = {}) => ({
  transaction_id: id,
  transaction_date: "2025-05-05",
  amount: 10,
  type: "CREDIT",
  ...values
})

layer(service, { excludeTestServices: true })("transactions over HTTP", (it) => {
  describe("the sample", () => {
    it.effect("is added with 201 and moves the balance", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const { transactions } = transactionsPayload()
        expect((yield* descriptionOf(account.number)).balance).toBe("50.00")
        const reply = yield* addTransactions(account, transactions)
        expect(reply.status).toBe(201)
        expect(reply.json).toStrictEqual({
          results: transactions.map((sent) => ({ status: added, transaction_data: withText(sent) }))
        })
        const description = yield* descriptionOf(account.number)
        expect(description.balance).toBe("125.00")
        expect(description.transactions.slice(-5)).toEqual(
          transactions.map((sent) => ({
            ...withText(sent),
            ledger_code: null,
            moved_from_date: null
          }))
        )
      })
    )

    it.effect("sent again adds nothing, and is answered as it is stored", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const { transactions } = transactionsPayload()
        yield* addTransactions(account, transactions)
        const stored = yield* descriptionOf(account.number)
        const again = yield* addTransactions(account, transactions)
        expect(again.status).toBe(201)
        expect(again.json).toStrictEqual({
          results: transactions.map((sent) => ({
            status: existed,
            transaction_data: { ...withText(sent), status: "TRANSACTION_IMPORT_SUCCESS" }
          }))
        })
        expect(yield* descriptionOf(account.number)).toEqual(stored)
        const { audit, events } = yield* recordOf(account.key)
        expect(audit.slice(-2)).toEqual([
          "create_transactions created",
          "create_transactions unchanged"
        ])
        expect(events.filter((event) => event.includes("post_import"))).toHaveLength(1)
      })
    )
  })

  describe("a transaction", () => {
    it.effect("that is new is answered among existing ones, in the order of the request", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        yield* addTransactions(account, [credit, payment])
        const reply = yield* addTransactions(account, [payment, charge, credit, creditOf("new")])
        expect(resultsOf(reply).map((it) => [it.status, it.transaction_data["transaction_id"]]))
          // In the order of the request, regardless of their order in storage.
          .toEqual([
            [existed, "NL-T-2001"],
            [added, "NL-T-2004"],
            [existed, "NL-T-2002"],
            [added, "new"]
          ])
        expect((yield* descriptionOf(account.number)).balance).toBe("505.00")
      })
    )

    it.effect("of the account's own payload counts as added earlier, from any list", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const [ledger] = domesticPayload().ledgers
        const sent = [
          ...(ledger?.historical_statement_transactions ?? []),
          ...(ledger?.current_statement_transactions ?? [])
        ]
        const query = "?force_add_to_current_statement=false"
        const reply = yield* addTransactions(account, sent, query)
        expect(reply.json).toStrictEqual({
          results: sent.map((one) => ({
            status: existed,
            transaction_data: { ...withText(one), status: "TRANSACTION_IMPORT_SUCCESS" }
          }))
        })
        expect((yield* descriptionOf(account.number)).balance).toBe("50.00")
      })
    )

    it.effect("is identified only by its exact id, and answered as it is stored", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        yield* addTransactions(account, [payment])
        const other = creditOf("NL-T-2001", { amount: 1 })
        const near = ["nl-t-2001", "NL-T-2001.", "NL-T-20010", "NL-T-２００１"]
        const reply = yield* addTransactions(account, [
          other,
          ...near.map((id) => creditOf(id)),
          creditOf(" \u{1F600} ")
        ])
        expect(statusesOf(reply)).toEqual([existed, ...near.map(() => added), added])
        expect(resultsOf(reply)[0]?.transaction_data).toMatchObject({
          amount: "400.00",
          type: "PAYMENT"
        })
        expect(resultsOf(reply).at(-1)?.transaction_data["transaction_id"]).toBe("\u{1F600}")
        expect((yield* descriptionOf(account.number)).balance).toBe("500.00")
      })
    )

    it.effect("is added again as its own entry if that is not checked", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const unchecked = "?check_previously_added=false"
        const first = creditOf("1")
        const second = creditOf("1", { amount: 20, note: "second" })
        expect(statusesOf(yield* addTransactions(account, [first]))).toEqual([added])
        const reply = yield* addTransactions(account, [second], unchecked)
        expect(reply.json).toStrictEqual({
          results: [{ status: added, transaction_data: withText(second) }]
        })
        const checked = yield* addTransactions(account, [second])
        expect(resultsOf(checked)[0]).toMatchObject({
          status: existed,
          transaction_data: { amount: "10.00" }
        })
        const { balance, transactions } = yield* descriptionOf(account.number)
        expect(balance).toBe("80.00")
        expect(transactions.slice(-2)).toMatchObject([{ amount: "10.00" }, { amount: "20.00" }])
      })
    )
  })

  describe("decimals", () => {
    const amounts: ReadonlyArray<readonly [string, string, string]> = [
      ["400", "PAYMENT", "400.00"],
      ["0.1", "CREDIT", "0.10"],
      [`"0.10"`, "CREDIT", "0.10"],
      [`" 12.5 "`, "PAYMENT", "12.50"],
      ["1e2", "CHARGE", "100.00"],
      ["12345e-2", "CHARGE", "123.45"],
      ["-7.5", "CHARGE", "-7.50"],
      ["-0.0", "CREDIT", "0.00"],
      ["0", "CHARGE", "0.00"],
      ["9999999999.99", "PAYMENT", "9999999999.99"],
      [`"-9999999999.99"`, "CREDIT", "-9999999999.99"],
      ["70.050000000000000000", "REPAYMENT", "70.05"]
    ]
    it.effect("are exact in answers and in the balance", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const { key, tenant } = account
        for (const [index, [source, type, text]] of amounts.entries()) {
          const body = { ...key, transactions: [creditOf(`${index}`, { type })] }
          const sent = withSource(body, "transactions.0.amount", source)
          const reply = yield* post(paths.transactions, tenant.token, sent)
          const [result] = resultsOf(reply)
          expect(result?.transaction_data["amount"], source).toBe(text)
        }
        const { balance, transactions } = yield* descriptionOf(account.number)
        expect(transactions.map((it) => it["amount"])).toEqual(amounts.map(([, , text]) => text))
        expect(balance).toBe("126.70")
      })
    )

    it.effect("of 0.10, added a thousand times, make 100", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const dimes = Array.from({ length: 1_000 }, (_, index) =>
          creditOf(`${index}`, { amount: 0.1 })
        )
        yield* addTransactions(account, dimes)
        expect((yield* descriptionOf(account.number)).balance).toBe("100.00")
      })
    )

    it.effect("may add up to a balance beyond the range of one amount", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const largest = ["1", "2", "3"].map((id) => creditOf(id, { amount: 9999999999.99 }))
        expect((yield* addTransactions(account, largest)).status).toBe(201)
        expect((yield* descriptionOf(account.number)).balance).toBe("29999999999.97")
      })
    )

    it.effect("inside items stay numbers with all their digits", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const item = {
          start_date: "2025-05-01",
          end_date: "2025-05-01",
          number_of_units: 123456789012.125,
          net_amount: 0.1234567891,
          units: [0, 0.0001]
        }
        const tax = {
          amount: -0.0000000001,
          tax_type: "VAT",
          value_taxed: 123456789012345,
          rate: 123456789012345,
          unit_type: "CURRENCY_PER_KWH"
        }
        const sent = {
          ...creditOf("1", { type: "SUPPLY_CHARGE", product_code: "P", amount: 0.12 }),
          line_items: [item, { ...item, net_amount: 0 }],
          tax_items: [tax]
        }
        const once = yield* addTransactions(account, [sent])
        const again = yield* addTransactions(account, [sent])
        expect(resultsOf(once)[0]?.transaction_data).toStrictEqual({ ...sent, amount: "0.12" })
        expect(resultsOf(again)[0]?.transaction_data).toStrictEqual({
          ...sent,
          amount: "0.12",
          status: "TRANSACTION_IMPORT_SUCCESS"
        })
      })
    )
  })

  describe("an invalid request", () => {
    const at = "transactions.0"
    const wrong: ReadonlyArray<readonly [Wire, ReadonlyArray<string>]> = [
      [{}, ["transaction_id", "transaction_date", "amount", "type"].map((it) => `${it}: required`)],
      [put(payment, "amount", 0), ["amount: min_value"]],
      [put(payment, "amount", -1), ["amount: min_value"]],
      [put(payment, "amount", 1.005), ["amount: max_decimal_places"]],
      [put(payment, "amount", 12_345_678_901.5), ["amount: max_digits"]],
      [put(payment, "amount", "1,50"), ["amount: invalid"]],
      [put(payment, "amount", true), ["amount: invalid_type"]],
      [put(payment, "amount", null), ["amount: null"]],
      [put(payment, "transaction_id", ""), ["transaction_id: blank"]],
      [put(payment, "transaction_id", "x".repeat(129)), ["transaction_id: max_length"]],
      [put(payment, "transaction_id", "a\0"), ["transaction_id: invalid"]],
      [put(payment, "transaction_id", 1), ["transaction_id: invalid_type"]],
      [put(payment, "transaction_date", "2025-02-29"), ["transaction_date: invalid_date"]],
      [put(payment, "type", "payment"), ["type: invalid_choice"]],
      [put(payment, "payment_type", "BARTER"), ["payment_type: invalid_choice"]],
      [put(payment, "tax_items", []), ["tax_items: field_not_allowed_for_transaction_type"]],
      [put(credit, "reference", "r"), ["reference: field_not_allowed_for_transaction_type"]],
      [put(supplyCharge, "reason", "r"), ["reason: field_not_allowed_for_transaction_type"]],
      [drop(supplyCharge, "product_code"), ["product_code: required"]],
      [
        put(supplyCharge, "line_items.0.units", [1]),
        ["line_items.0.units: line_item_units_must_be_two_values"]
      ],
      [
        put(supplyCharge, "line_items.0.price_per_unit", 1.26),
        ["line_items.0: incorrect_line_item_net_amount"]
      ],
      [
        put(supplyCharge, "amount", 325.01),
        [": ledger_transaction_amount_does_not_match_with_line_item_net_amount_and_tax_amount"]
      ],
      [put(supplyCharge, "status", "TRANSACTION_IMPORT_SUCCESS"), ["status: unknown_field"]]
    ]
    it.effect("is reported at its place in the envelope, and nothing is stored", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const stored = yield* descriptionOf(account.number)
        for (const [transaction, places] of wrong) {
          const reply = yield* addTransactions(account, [transaction, creditOf("sound")])
          expect(reply.status).toBe(400)
          expect(errorsOf(reply)).toEqual([
            failed,
            ...places.map((place) => (place.startsWith(":") ? at + place : `${at}.${place}`))
          ])
        }
        expect(yield* descriptionOf(account.number)).toEqual(stored)
      })
    )

    it.effect("is reported for all transactions at once", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const query = "?force_add_to_current_statement=false"
        const reply = yield* addTransactions(
          account,
          [
            creditOf("1", { transaction_date: "1999-01-01" }),
            creditOf("1"),
            creditOf("2", { amount: "x" }),
            null,
            creditOf("3", { colour: "blue" })
          ],
          query
        )
        expect(errorsOf(reply)).toEqual([
          failed,
          "transactions.2.amount: invalid",
          "transactions.3: null",
          "transactions.4.colour: unknown_field"
        ])
      })
    )
  })

  describe("a request", () => {
    it.effect("may hold at most 10,000 transactions", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount(bareAccountOf)
        const transactions = Array.from({ length: 10_001 }, (_, index) => {
          const { transaction_id, ...rest } =
            [payment, credit, supplyCharge, charge][index % 4] ?? {}
          return { transaction_id: `${String(transaction_id)} ${index}`, ...rest }
        })
        const over = yield* addTransactions(account, transactions)
        expect(over.status).toBe(400)
        expect(errorsOf(over)).toEqual([failed, "transactions: max_length"])

        const full = transactions.slice(0, 10_000)
        const reply = yield* addTransactions(account, full)
        expect(reply.status).toBe(201)
        expect(statusesOf(reply).filter((status) => status === added)).toHaveLength(10_000)
        expect(get(reply.json, "results.9999.transaction_data.transaction_id")).toBe(
          "NL-T-2004 9999"
        )
        const again = yield* addTransactions(account, full)
        expect(statusesOf(again).filter((status) => status === existed)).toHaveLength(10_000)
        const description = yield* descriptionOf(account.number)
        expect(description.balance).toBe("300000.00")
        expect(description.transactions).toHaveLength(10_000)
      })
    )
  })
})
