/**
 * The peer answers valid requests as the services do and refuses with the same status and code, so
 * that the two can be compared.
 */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { businessDay, TimeZone, utc } from "@data-import/domain/organisation/BusinessDay"
import { nextDay } from "@data-import/domain/schema/Field"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { SupplierCode } from "@data-import/domain/organisation/Supplier"
import {
  domesticPayload,
  notesPayload,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import { drop, put, putAll, type Wire } from "@data-import/domain/testing/wire"
import { rebuilt } from "./rebuilt.ts"
import { type Reply, type Subject, Subjects, subjectsWith } from "./subjects.ts"

const base = "/v1/data-import"
const validatePath = `${base}/validate-account/`
const stagePath = `${base}/account-import-process/create-or-update/`
const processPath = `${base}/account-import-process/process/`

/** The status and the code only, because the peer words and places field errors differently. */
const refusalIn = ({ json, status }: Reply) => [status, (json as { code?: string }).code]

type Ask = (subject: Subject) => Effect.Effect<Reply>

/** The answers of the services and the peer to the same request, each for its own supplier. */
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

type Added = "historical-statements" | "notes" | "transactions"

const posting =
  (what: Added) =>
  (external_account_number: string, list: unknown): Ask =>
  (subject) => {
    const key = { import_supplier: subject.supplier, external_account_number }
    const member = what === "historical-statements" ? "statements" : what
    return subject.post(`${base}/${what}/create/`, { ...key, [member]: list })
  }

const adding = posting("transactions")
const noting = posting("notes")
const billing = posting("historical-statements")

const status =
  (number: string, supplier?: string): Ask =>
  (subject) =>
    subject.get(`${base}/account-transfer-status/${supplier ?? subject.supplier}/${number}/`)

const transactions = (): ReadonlyArray<Wire> => transactionsPayload().transactions

const changed = (change: (transaction: Wire) => Wire) => transactions().map(change)

const repeated = { ...transactions()[0], transaction_id: "R-1" }

const notes = (): ReadonlyArray<Wire> => notesPayload().notes
const statements = (): ReadonlyArray<Wire> => statementsPayload().statements

const withPath = (payload: Wire, path: string): Wire => put(payload, path, "missing.pdf")

/** Times of the last minutes differ between the two. */
const recent = (json: unknown): unknown =>
  JSON.parse(
    JSON.stringify(json).replaceAll(/"20\d\d-\d\d-\d\dT[^"]+"/g, (at) =>
      Math.abs(Date.now() - Date.parse(at.slice(1, -1))) < 600_000 ? '"NOW"' : at
    )
  )

/** JSON with decimals as numbers and times in UTC, however they were written. */
const plain = (json: unknown): unknown =>
  JSON.parse(JSON.stringify(json ?? null), (_name, value: unknown) => {
    if (typeof value !== "string") return value
    if (/^-?\d+\.\d+$/.test(value)) return Number(value)
    return /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value).toISOString() : value
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
  ],
  ["notes for nothing", noting("never staged", notes())],
  ["no notes", noting("1", [])],
  ["a note without content", noting("1", [{ is_pinned: true }])],
  ["a note unpinned too early", noting("1", [{ body: "B", unpin_at: "2000-01-01T00:00:00Z" }])],
  ["statements for nothing", billing("never staged", statements())],
  ["no statements", billing("1", [])],
  ["a statement twice", billing("1", [...statements(), ...statements()])],
  [
    "a statement that ends before it begins",
    billing("1", [{ ...statements()[0], bill_period_to_date: "2024-01-01" }])
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
  ["a missing statement", { "statements.1.statement_path": "missing.pdf" }],
  ["a missing document", { "notes.0.document_paths.0.document_path": "missing.pdf" }],
  ["a closing date in the future", { "ledgers.0.last_statement_closing_date": "2999-01-01" }]
]

layer(subjectsWith("folder"), { excludeTestServices: true, timeout: 120_000 })(
  "the services and the peer",
  (it) => {
    it.effect.each(tables)("refuse with the same status and code: %s", ([_, ask]) =>
      Effect.gen(function* () {
        const [ours, peer] = yield* both(ask)
        expect(ours.status).toBeGreaterThanOrEqual(400)
        expect(refusalIn(peer)).toEqual(refusalIn(ours))
      })
    )

    it.effect.each(broken)("refuse an account with the same status and code: %s", ([_, changes]) =>
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

    it.effect("answer alike during the life of an import", () =>
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
      })
    )

    it.effect("add notes and statements alike", () =>
      Effect.gen(function* () {
        const late = { ...statements()[0], statement_id: "late", statement_path: "missing.pdf" }
        const other = { ...statements()[0], number: "other" }
        const ofPayload = {
          statement_id: "NL-S-2025-01",
          bill_period_from_date: "2025-01-01",
          bill_period_to_date: "2025-01-31",
          statement_path: "/statements/NL-0004711/2025-01.pdf"
        }
        const [timed, documented, untimed] = notes()
        const steps: ReadonlyArray<readonly [expected: number, ask: Ask]> = [
          [201, stage(sample("N"))],
          [404, noting("N", notes())],
          [404, billing("N", statements())],
          [201, processing("N")],
          [201, noting("N", notes())],
          [201, noting("N", notes())],
          [201, noting("N", [timed, drop(timed ?? {}, "created_at"), untimed, untimed])],
          [201, noting("N", [put(timed ?? {}, "created_at", "2025-04-18T10:42:01Z")])],
          [201, noting("N", [{ body: "New" }, { body: "New" }, { ...documented, body: "New" }])],
          [400, noting("N", [withPath(documented ?? {}, "document_paths.1.document_path")])],
          [201, billing("N", statements())],
          [201, billing("N", statements())],
          [201, billing("N", [ofPayload])],
          [400, billing("N", [other, drop(late, "statement_path")])],
          [400, billing("N", [late])],
          [201, billing("N", [drop(late, "statement_path")])]
        ]
        const sent = yield* Subjects
        for (const [index, [expected, step]] of steps.entries()) {
          const [ours, peer] = yield* both(step)
          expect(ours.status, `step ${index}`).toBe(expected)
          expect(refusalIn(peer), `step ${index}`).toEqual(refusalIn(ours))
          if (expected === 404 || expected === 400) continue
          expect(recent(answerOf(peer, sent.peer)), `step ${index}`).toEqual(
            recent(answerOf(ours, sent.ours))
          )
        }
      })
    )

    it.effect("store every field of an account, and what is added to it", () =>
      Effect.gen(function* () {
        const { peer, query } = yield* Subjects
        const steps = [
          stage(sample("K")),
          processing("K"),
          adding("K", transactions()),
          noting("K", notes()),
          billing("K", statements())
        ]
        for (const step of steps) expect((yield* step(peer)).status).toBe(201)
        const [row] = yield* query(rebuilt, [peer.supplier, "K"])
        const expected = {
          account: { ...sample("K"), import_supplier: peer.supplier },
          balance: 125,
          transactions: transactions(),
          notes: notes().map((note) => ({ created_at: "NOW", ...note })),
          statements: statements()
        }
        expect(recent(plain(row?.["stored"]))).toEqual(recent(plain(expected)))
      })
    )

    it.effect("use the day in the supplier's time zone", () =>
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

layer(subjectsWith("bucket"), { excludeTestServices: true, timeout: 120_000 })(
  "the services and the peer with object storage",
  (it) => {
    it.effect("find the same documents", () =>
      Effect.gen(function* () {
        const broken = withPath(sample("B"), "statements.0.statement_path")
        const steps: ReadonlyArray<readonly [expected: number, ask: Ask]> = [
          [201, stage(sample("B"))],
          [400, stage(broken)],
          [400, stage(broken)],
          [201, processing("B")],
          [201, noting("B", notes())],
          [201, billing("B", statements())]
        ]
        for (const [index, [expected, step]] of steps.entries()) {
          const [ours, peer] = yield* both(step)
          expect([ours.status, peer.status], `step ${index}`).toEqual([expected, expected])
        }
      })
    )
  }
)
