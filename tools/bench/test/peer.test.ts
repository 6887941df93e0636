/**
 * The peer answers valid requests as the services do and refuses with the same status and code, so
 * that the two can be compared.
 */
import { expect, layer } from "@effect/vitest"
import { BigDecimal, DateTime, Effect, Option } from "effect"
import { AccountNumber } from "@data-import/domain/account/Account"
import { businessDay, TimeZone, utc } from "@data-import/domain/organisation/BusinessDay"
import { nextDay } from "@data-import/domain/schema/Field"
import { Accounts } from "@data-import/domain/ports/Accounts"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { SupplierCode } from "@data-import/domain/organisation/Supplier"
import { domesticPayload, transactionsPayload } from "@data-import/domain/testing/samples"
import { drop, put, putAll, type Wire } from "@data-import/domain/testing/wire"
import { type Reply, type Subject, Subjects, subjects } from "./subjects.ts"

const base = "/v1/data-import"
const validatePath = `${base}/validate-account/`
const stagePath = `${base}/account-import-process/create-or-update/`
const processPath = `${base}/account-import-process/process/`
const transactionsPath = `${base}/transactions/create/`

/** The status and the code; the peer words and places the errors of fields in its own way. */
const refusalIn = ({ json, status }: Reply) => [status, (json as { code?: string }).code]

type Ask = (subject: Subject) => Effect.Effect<Reply>

/** What the services and the peer answer to the same request, each for a supplier of its own. */
const both = Effect.fnUntraced(function* (ask: Ask) {
  const { ours, peer } = yield* Subjects
  return [yield* ask(ours), yield* ask(peer)] as const
})

/** The answer without what must differ: the supplier, the account's number, and when it was made. */
const answerOf = ({ json, status }: Reply, { supplier }: Subject) => ({
  status,
  json: JSON.parse(
    JSON.stringify(json ?? null)
      .replaceAll(supplier, "SUPPLIER")
      .replaceAll(/A-[0-9A-F]{8}/g, "NUMBER")
      .replaceAll(/("account_created_at":)"[\d:TZ-]+"/g, '$1"NOW"')
  ) as unknown
})

const ofSupplier = (payload: Wire, { supplier }: Subject): Wire =>
  payload["import_supplier"] === "SUPPLIER" ? put(payload, "import_supplier", supplier) : payload

const sample = (number: string): Wire => ({
  ...domesticPayload(),
  import_supplier: "SUPPLIER",
  external_account_number: number
})

const validating =
  (body: unknown, token?: string): Ask =>
  (subject) =>
    subject.post(validatePath, body, token)

const stage =
  (payload: Wire): Ask =>
  (subject) =>
    subject.post(stagePath, { payload: ofSupplier(payload, subject) })

const processing =
  (external_account_number: string, rest: Wire = {}): Ask =>
  (subject) => {
    const key = { import_supplier: subject.supplier, external_account_number }
    const payload = { ...key, operations_team_name: "Migration Team", ...rest }
    return subject.post(processPath, { payload, task_params: {} })
  }

const adding =
  (external_account_number: string, transactions: unknown): Ask =>
  (subject) => {
    const import_supplier = subject.supplier
    return subject.post(transactionsPath, {
      import_supplier,
      external_account_number,
      transactions
    })
  }

const status =
  (number: string, supplier?: string): Ask =>
  (subject) =>
    subject.get(`${base}/account-transfer-status/${supplier ?? subject.supplier}/${number}/`)

const transactions = (): ReadonlyArray<Wire> => transactionsPayload().transactions

const changed = (change: (transaction: Wire) => Wire) => transactions().map(change)

const repeated = { ...transactions()[0], transaction_id: "R-1" }

const numberIn = ({ json }: Reply): AccountNumber =>
  AccountNumber.make((json as { kraken_account_number: string }).kraken_account_number)

/** A decimal without zeros at its end. */
const plainDecimal = (value: unknown): unknown => {
  const {
    _id,
    scale = 0,
    value: digits = "0"
  } = (value ?? {}) as {
    readonly _id?: unknown
    readonly scale?: number
    readonly value?: string
  }
  return _id === "BigDecimal" ? BigDecimal.format(BigDecimal.make(BigInt(digits), scale)) : value
}

/** Everything on an account but what must differ: its number, and when things were done. */
const contentOf = Effect.fnUntraced(function* (number: AccountNumber, supplier: string) {
  const accounts = yield* Accounts
  const account = Option.getOrThrow(yield* accounts.describe(number))
  const isRecent = (at: string) => Date.now() - Date.parse(at) < 600_000
  return JSON.stringify(account, (_name, value: unknown) => plainDecimal(value), 1)
    .replaceAll(number, "NUMBER")
    .replaceAll(supplier, "SUPPLIER")
    .replaceAll(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, (at) => (isRecent(at) ? "NOW" : at))
})

const tables: ReadonlyArray<readonly [string, Ask]> = [
  ["half a document", validating('{"payload": ')],
  ["no object", (subject) => subject.post(stagePath, "5")],
  ["no payload", (subject) => subject.post(stagePath, {})],
  ["null for a payload", validating({ payload: null })],
  ["a member beside the payload", validating({ payload: {}, other: 1 })],
  ["another's supplier", stage({ ...sample("A"), import_supplier: "NOBODY" })],
  ["an invalid token", validating({}, "abc")],
  ["an unknown path", (subject) => subject.get(`${base}/nothing/`)],
  ["the status of nothing", status("never staged")],
  ["the status of an unknown supplier", status("1", "NOBODY")],
  ["processing nothing", processing("never staged")],
  ["processing for an unknown supplier", processing("never staged", { import_supplier: "NOBODY" })],
  ["processing with an unknown member", processing("1", { surprise: 1 })],
  ["processing for no team", processing("1", { operations_team_name: "" })],
  ["adding to nothing", adding("never staged", transactions())],
  ["adding none", adding("1", [])],
  [
    "adding without an amount",
    adding(
      "1",
      changed((it) => drop(it, "amount"))
    )
  ],
  [
    "adding invalid transactions",
    adding(
      "1",
      changed((it) => putAll(it, { amount: -1, reason: 5 }))
    )
  ]
]

/** Accounts that each break one rule. */
const broken: ReadonlyArray<readonly [string, Wire]> = [
  ["no customer", { customers: [] }],
  ["a customer without an occupier", { unknown_occupier: true }],
  ["no family name", { "customers.0.family_name": "" }],
  ["a birth in the future", { "customers.0.date_of_birth": "2999-01-01" }],
  ["an unknown account type", { account_type: "NONE" }],
  ["an impossible date", { date_of_sale: "2025-02-30" }],
  ["a number for a text", { billing_name: 5 }],
  ["an unknown member", { surprise: 1 }],
  ["a wrong ledger balance", { "ledgers.0.ledger_balance": 1 }],
  ["a wrong transfer balance", { transfer_balance: 1 }],
  ["a closing date in the future", { "ledgers.0.last_statement_closing_date": "2999-01-01" }]
]

layer(subjects, { excludeTestServices: true, timeout: 120_000 })(
  "the services and the peer",
  (it) => {
    it.effect.each(tables)("refuse alike: %s", ([_, ask]) =>
      Effect.gen(function* () {
        const [ours, peer] = yield* both(ask)
        expect(ours.status).toBeGreaterThanOrEqual(400)
        expect(refusalIn(peer)).toEqual(refusalIn(ours))
      })
    )

    it.effect.each(broken)("refuse an account alike: %s", ([_, changes]) =>
      Effect.gen(function* () {
        const [ours, peer] = yield* both(stage(putAll(sample("B"), changes)))
        expect(refusalIn(ours)).toEqual([400, "account_failed_validation"])
        expect(refusalIn(peer)).toEqual(refusalIn(ours))
      })
    )

    it.effect("answer a valid account alike", () =>
      Effect.gen(function* () {
        const sent = yield* Subjects
        const [ours, peer] = yield* both((subject) =>
          subject.post(validatePath, { payload: ofSupplier(sample("V"), subject) })
        )
        expect(ours.status).toBe(200)
        expect(answerOf(peer, sent.peer)).toEqual(answerOf(ours, sent.ours))
      })
    )

    it.effect("answer alike along the life of an import", () =>
      Effect.gen(function* () {
        const sent = yield* Subjects
        const steps: ReadonlyArray<Ask> = [
          stage(sample("1")),
          stage(sample("1")),
          status("1"),
          adding("1", transactions()),
          processing("1", { operations_team_name: "Nobody" }),
          processing("1"),
          processing("1"),
          processing("1", { operations_team_name: "Nobody" }),
          stage(sample("1")),
          status("1"),
          adding("1", transactions().slice(0, 3)),
          adding("1", transactions()),
          adding("1", [repeated, repeated]),
          stage(sample("2")),
          (subject) => subject.get(`${base}/all-account-import-processes/${subject.supplier}/`)
        ]
        for (const [index, step] of steps.entries()) {
          const [ours, peer] = yield* both(step)
          expect(refusalIn(peer), `step ${index}`).toEqual(refusalIn(ours))
          if (ours.status < 400) {
            expect(answerOf(peer, sent.peer), `step ${index}`).toEqual(answerOf(ours, sent.ours))
          }
        }
        const [ours, peer] = yield* both(status("1"))
        const stored = yield* contentOf(numberIn(ours), sent.ours.supplier)
        expect(yield* contentOf(numberIn(peer), sent.peer.supplier)).toEqual(stored)
      })
    )

    it.effect("go by the day in the supplier's time zone", () =>
      Effect.gen(function* () {
        const sent = yield* Subjects
        const setup = yield* Configuration
        const setTimeZone = (timeZone: TimeZone) =>
          Effect.forEach([sent.ours, sent.peer], ({ supplier }) =>
            setup.configureSupplier(SupplierCode.make(supplier), { timeZone })
          )
        yield* Effect.addFinalizer(() => Effect.orDie(setTimeZone(utc)))
        yield* both(stage(sample("days")))
        yield* both(processing("days"))
        for (const zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"].map((it) =>
          TimeZone.make(it)
        )) {
          yield* setTimeZone(zone)
          const today = businessDay(yield* DateTime.now, zone)
          const dated = [today, nextDay(today)].map((date) =>
            put(sample("dated"), "customers.0.date_of_birth", date)
          )
          const steps = [
            ...dated.map((payload) => stage(payload)),
            adding("days", [
              { transaction_id: zone, transaction_date: today, amount: 1, type: "CREDIT" }
            ])
          ]
          const statuses: Array<number> = []
          for (const step of steps) {
            const [ours, peer] = yield* both(step)
            expect(refusalIn(peer)).toEqual(refusalIn(ours))
            if (ours.status < 400)
              expect(answerOf(peer, sent.peer)).toEqual(answerOf(ours, sent.ours))
            statuses.push(ours.status)
          }
          expect(statuses.map((status) => status < 400)).toEqual([true, false, true])
        }
      })
    )
  }
)
