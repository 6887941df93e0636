import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { descriptionOf } from "@data-import/domain/testing/importedAccounts"
import { recordOf } from "@data-import/domain/testing/importRecords"
import { domesticPayload, transactionsPayload } from "@data-import/domain/testing/samples"
import { get, put, type Wire } from "@data-import/domain/testing/wire"
import { errorsOf } from "@data-import/server/testing/RunningService"
import { addTransactions, bareAccountOf, importedAccount, service } from "./postImportService.ts"

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

  describe("an invalid request", () => {
    it.effect("is reported for all transactions at once, and nothing is stored", () =>
      Effect.gen(function* () {
        const account = yield* importedAccount()
        const stored = yield* descriptionOf(account.number)
        const reply = yield* addTransactions(account, [
          creditOf("1", { amount: "x" }),
          null,
          put(supplyCharge, "line_items.0.price_per_unit", 1.26),
          creditOf("sound")
        ])
        expect(reply.status).toBe(400)
        expect(errorsOf(reply)).toEqual([
          failed,
          "transactions.0.amount: invalid",
          "transactions.1: null",
          "transactions.2.line_items.0: incorrect_line_item_net_amount"
        ])
        expect(yield* descriptionOf(account.number)).toEqual(stored)
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
