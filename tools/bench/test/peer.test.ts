/** The peer gives the answers of the services, so that the two can be compared at all. */
import { expect, layer } from "@effect/vitest"
import { BigDecimal, DateTime, Effect, Option } from "effect"
import fc from "fast-check"
import { AccountNumber } from "@data-import/domain/account/Account"
import { businessDay, TimeZone, utc } from "@data-import/domain/organisation/BusinessDay"
import { nextDay } from "@data-import/domain/schema/Field"
import { Accounts } from "@data-import/domain/ports/Accounts"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { SupplierCode } from "@data-import/domain/organisation/Supplier"
import { accountPayload } from "@data-import/domain/testing/arbitraries"
import { mutant } from "@data-import/domain/testing/mutants"
import { domesticPayload, transactionsPayload } from "@data-import/domain/testing/samples"
import { drop, put, putAll, type Wire } from "@data-import/domain/testing/wire"
import { type Reply, type Side, Sides, sides } from "./sides.ts"

const validatePath = "/v1/data-import/validate-account/"
const stagePath = "/v1/data-import/account-import-process/create-or-update/"
const processPath = "/v1/data-import/account-import-process/process/"
const transactionsPath = "/v1/data-import/transactions/create/"

interface Fault {
  readonly attr: string
  readonly code: string
}

/** Status and code, and each place with its code whatever the order. */
const gist = ({ json, status }: Reply) => {
  const { code, errors = [] } = json as { code?: string; errors?: ReadonlyArray<Fault> }
  return [status, code, ...errors.map(({ attr, code: what }) => `${attr}: ${what}`).toSorted()]
}

/** What the services and the peer answer to the same request, each for a supplier of its own. */
const both = Effect.fnUntraced(function* (ask: (side: Side) => Effect.Effect<Reply>) {
  const { ours, peer } = yield* Sides
  return [yield* ask(ours), yield* ask(peer)] as const
})

/** The answer without what must differ: the supplier, the account's number, and when it was made. */
const said = ({ json, status }: Reply, { supplier }: Side) => ({
  status,
  json: JSON.parse(
    JSON.stringify(json ?? null)
      .replaceAll(supplier, "SUPPLIER")
      .replaceAll(/A-[0-9A-F]{8}/g, "NUMBER")
      .replaceAll(/("account_created_at":)"[\d:TZ-]+"/g, '$1"NOW"')
  ) as unknown
})

const ofSupplier = (payload: Wire, { supplier }: Side): Wire =>
  payload["import_supplier"] === "SUPPLIER" ? put(payload, "import_supplier", supplier) : payload

const cases = 250

const payloadsAt = (now: DateTime.Utc): ReadonlyArray<Wire> => {
  const valid = accountPayload({ now, supplier: "SUPPLIER" })
  const broken = valid.chain((payload) => mutant(payload, now)).map(({ body }) => body)
  return [valid, broken].flatMap((payloads) => fc.sample(payloads, { numRuns: cases, seed: 5 }))
}

const sample = (number: string): Wire => ({
  ...domesticPayload(),
  import_supplier: "SUPPLIER",
  external_account_number: number
})

const stage = (side: Side, payload: Wire) =>
  side.post(stagePath, { payload: ofSupplier(payload, side) })

const processing = (side: Side, number: string, rest: Wire = {}) =>
  side.post(processPath, {
    payload: {
      import_supplier: side.supplier,
      external_account_number: number,
      operations_team_name: "Migration Team",
      ...rest
    },
    task_params: {}
  })

const adding = (side: Side, number: string, transactions: unknown, search = "") =>
  side.post(`${transactionsPath}${search}`, {
    import_supplier: side.supplier,
    external_account_number: number,
    transactions
  })

const status = (side: Side, number: string) =>
  side.get(`/v1/data-import/account-transfer-status/${side.supplier}/${number}/`)

const transactions = (): ReadonlyArray<Wire> => transactionsPayload().transactions

/** Before the open period, and so to be moved. */
const early = (): ReadonlyArray<Wire> => [
  { transaction_id: "E-1", transaction_date: "2020-01-01", amount: "1.5", type: "CHARGE" }
]

const numberIn = ({ json }: Reply): AccountNumber =>
  AccountNumber.make((json as { kraken_account_number: string }).kraken_account_number)

/** A figure as it is written, however many zeros it ends with. */
const plainFigure = (value: unknown): unknown => {
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
  return JSON.stringify(account, (_name, value: unknown) => plainFigure(value), 1)
    .replaceAll(number, "NUMBER")
    .replaceAll(supplier, "SUPPLIER")
    .replaceAll(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, (at) => (isRecent(at) ? "NOW" : at))
})

const tables: ReadonlyArray<readonly [string, (side: Side) => Effect.Effect<Reply>]> = [
  ["a repeated key", (side) => side.post(validatePath, '{"payload": {}, "payload": {}}')],
  ["half a document", (side) => side.post(validatePath, '{"payload": ')],
  ["a nesting of 33", (side) => side.post(stagePath, "[".repeat(33) + "]".repeat(33))],
  ["no object", (side) => side.post(stagePath, "5")],
  ["no payload", (side) => side.post(stagePath, {})],
  ["null for a payload", (side) => side.post(validatePath, { payload: null })],
  ["a member beside the payload", (side) => side.post(validatePath, { payload: {}, other: 1 })],
  [
    "a figure that no double holds",
    (side) => {
      const body = JSON.stringify({ payload: ofSupplier(sample("F"), side) })
      return side.post(
        validatePath,
        body.replace(/"transfer_balance":[^,]+/, (found) => `${found}00000000000000000001`)
      )
    }
  ],
  [
    "another's supplier",
    (side) => side.post(stagePath, { payload: { ...sample("A"), import_supplier: "NOBODY" } })
  ],
  ["no token that is one", (side) => side.post(validatePath, {}, "abc")],
  ["a path that is none", (side) => side.get("/v1/data-import/nothing/")],
  ["the status of nothing", (side) => status(side, "never staged")],
  [
    "the status of nobody's",
    (side) => side.get("/v1/data-import/account-transfer-status/NOBODY/1/")
  ],
  ["processing nothing", (side) => processing(side, "never staged")],
  [
    "processing for nobody",
    (side) => processing(side, "never staged", { import_supplier: "NOBODY" })
  ],
  ["processing with a surprise", (side) => processing(side, "1", { surprise: 1 })],
  ["processing for no team", (side) => processing(side, "1", { operations_team_name: " " })],
  ["adding to nothing", (side) => adding(side, "never staged", transactions())],
  ["adding none", (side) => adding(side, "1", [])],
  [
    "adding with a parameter that is none",
    (side) => adding(side, "1", [], "?check_previously_added=1")
  ],
  [
    "adding what has no amount",
    (side) =>
      adding(
        side,
        "1",
        transactions().map((it) => drop(it, "amount"))
      )
  ],
  [
    "adding what is wrong",
    (side) =>
      adding(
        side,
        "1",
        transactions().map((it) => putAll(it, { amount: -1, reason: 5 }))
      )
  ]
]

layer(sides, { excludeTestServices: true, timeout: 120_000 })("the services and the peer", (it) => {
  it.effect(
    "judge 500 payloads alike, valid and broken",
    () =>
      Effect.gen(function* () {
        const payloads = payloadsAt(yield* DateTime.now)
        const sent = yield* Sides
        const answers = yield* Effect.forEach(
          payloads.entries(),
          ([index, payload]) => {
            const path = index % 2 === 0 ? validatePath : stagePath
            return both((side) => side.post(path, { payload: ofSupplier(payload, side) }))
          },
          { concurrency: 8 }
        )
        expect(new Set(answers.map(([{ status: answered }]) => answered)).size).toBe(3)
        for (const [index, [ours, peer]] of answers.entries()) {
          const message = JSON.stringify(payloads[index]).slice(0, 2_000)
          expect(gist(peer), message).toEqual(gist(ours))
          if (ours.status < 400)
            expect(said(peer, sent.peer), message).toEqual(said(ours, sent.ours))
        }
      }),
    120_000
  )

  it.effect.each(tables)("refuse alike: %s", ([_, ask]) =>
    Effect.gen(function* () {
      const [ours, peer] = yield* both(ask)
      expect(ours.status).toBeGreaterThanOrEqual(400)
      expect(gist(peer)).toEqual(gist(ours))
    })
  )

  it.effect("answer alike along the life of an import", () =>
    Effect.gen(function* () {
      const sent = yield* Sides
      const steps: ReadonlyArray<(side: Side) => Effect.Effect<Reply>> = [
        (side) => stage(side, sample("1")),
        (side) => stage(side, sample("1")),
        (side) => status(side, "1"),
        (side) => adding(side, "1", transactions()),
        (side) => processing(side, "1", { operations_team_name: "Nobody" }),
        (side) => processing(side, "1", { dry_run: true }),
        (side) => status(side, "1"),
        (side) => processing(side, "1"),
        (side) => processing(side, "1"),
        (side) => processing(side, "1", { operations_team_name: "Nobody" }),
        (side) => stage(side, sample("1")),
        (side) => status(side, "1"),
        (side) => adding(side, "1", transactions().slice(0, 3)),
        (side) => adding(side, "1", transactions()),
        (side) => adding(side, "1", transactions(), "?check_previously_added=false"),
        (side) => adding(side, "1", [...early(), ...early()]),
        (side) => adding(side, "1", early(), "?force_add_to_current_statement=false"),
        (side) => adding(side, "1", early()),
        (side) => stage(side, sample("2")),
        ...["all", "pending", "imported"].map(
          (kind) => (side: Side) =>
            side.get(`/v1/data-import/${kind}-account-import-processes/${side.supplier}/`)
        )
      ]
      for (const [index, step] of steps.entries()) {
        const [ours, peer] = yield* both(step)
        expect(gist(peer), `step ${index}`).toEqual(gist(ours))
        if (ours.status < 400) {
          expect(said(peer, sent.peer), `step ${index}`).toEqual(said(ours, sent.ours))
        }
      }
      const [ours, peer] = yield* both((side) => status(side, "1"))
      const stored = yield* contentOf(numberIn(ours), sent.ours.supplier)
      expect(yield* contentOf(numberIn(peer), sent.peer.supplier)).toEqual(stored)
    })
  )

  it.effect("go by the day in the supplier's time zone", () =>
    Effect.gen(function* () {
      const sent = yield* Sides
      const setup = yield* Configuration
      const setTimeZone = (timeZone: TimeZone) =>
        Effect.forEach([sent.ours, sent.peer], ({ supplier }) =>
          setup.configureSupplier(SupplierCode.make(supplier), { timeZone })
        )
      yield* Effect.addFinalizer(() => Effect.orDie(setTimeZone(utc)))
      yield* both((side) => stage(side, sample("days")))
      yield* both((side) => processing(side, "days"))
      for (const zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"].map((name) =>
        TimeZone.make(name)
      )) {
        yield* setTimeZone(zone)
        const today = businessDay(yield* DateTime.now, zone)
        const dated = [today, nextDay(today)].map((date) =>
          put(sample("dated"), "customers.0.date_of_birth", date)
        )
        const steps = [
          ...dated.map((payload) => (side: Side) => stage(side, payload)),
          (side: Side) =>
            adding(side, "days", [
              { transaction_id: zone, transaction_date: "9999-12-31", amount: 1, type: "CREDIT" }
            ])
        ]
        const statuses: Array<number> = []
        for (const step of steps) {
          const [ours, peer] = yield* both(step)
          expect(gist(peer)).toEqual(gist(ours))
          if (ours.status < 400) expect(said(peer, sent.peer)).toEqual(said(ours, sent.ours))
          statuses.push(ours.status)
        }
        expect(statuses.map((status) => status < 400)).toEqual([true, false, true])
      }
    })
  )
})
