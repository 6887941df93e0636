/** Answers of the board's API about 40 migrations in every condition, for looking at its pages. */
import { moneyCompared } from "@data-import/domain/board/MigrationBodies"
import type * as BatchBodies from "@data-import/api/board/Batches"
import type * as Migrations from "@data-import/api/board/Migrations"
import { noCounts } from "@data-import/domain/migrations/Migrations"
import { forecastOf, outcomeOf } from "./sampleForecast.ts"

type Migration = Migrations.MigrationBody
type Detail = typeof Migrations.MigrationDetailBody.Type
type History = typeof Migrations.HistoryBody.Type
type Condition = Migration["condition"]

const hour = 3_600_000

export const instant = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`

/** The text of every error. */
export const errorText = { detail: "Must be as documented.", business_day: null }

/** How many of each, in the order of the list. */
const shape: ReadonlyArray<readonly [Condition, number]> = [
  ["stuck", 2],
  ["failing", 4],
  ["slow", 3],
  ["waiting", 5],
  ["paused", 3],
  ["running", 14],
  ["done", 9]
]

const number = new Intl.NumberFormat("en-GB")

/** As the service writes them. */
const reasonOf = (
  condition: Condition,
  { FAILED, IMPORTED, PENDING }: Migration["states"],
  lastHour: number
): string => {
  const text = (count: number) => number.format(count)
  const open = PENDING + FAILED
  switch (condition) {
    case "stuck":
      return `A batch is paused: 96 lines failed, ${text(PENDING)} lines wait.`
    case "failing":
      return `${text(FAILED)} of ${text(FAILED + IMPORTED)} that were tried have failed.`
    case "slow":
      return `${text(IMPORTED)} are imported, ${text(Math.round(IMPORTED / 6))} fewer than planned.`
    case "waiting":
      return `${text(PENDING)} accounts wait to be imported.`
    case "paused":
    case "unfinished":
      return `It is paused, with ${text(open)} accounts open: late data (Ann, 28 Nov).`
    case "running":
      return `${text(lastHour)} were imported in the last hour, ${text(open)} are open.`
    case "done":
      return `All ${text(IMPORTED)} accounts are done.`
  }
}

const names = "ACME BALTIC CITY DELTA EAST FJORD GRAND HARBOUR ISLE JURA".split(" ")

const codeOf = (index: number): string =>
  `${names[index % names.length]}_${["LEGACY", "GAS", "POWER", "WATER"][Math.floor(index / 10)]}`

const statesOf = (condition: Condition, total: number): Migration["states"] => {
  if (condition === "done") return { ...noCounts, IMPORTED: total - 3, SKIPPED: 2, ERASED: 1 }
  if (condition === "waiting") return { ...noCounts, PENDING: total }
  const FAILED = condition === "failing" ? 412 : condition === "stuck" ? 96 : 7
  const IMPORTED = Math.floor(total * 0.64)
  return { ...noCounts, FAILED, IMPORTED, IN_PROGRESS: 8, PENDING: total - IMPORTED - FAILED - 8 }
}

const isMoving = (condition: Condition): boolean =>
  condition === "failing" || condition === "slow" || condition === "running"

const hourlyOf = (condition: Condition, index: number): ReadonlyArray<number> =>
  Array.from({ length: 24 }, (_, at) =>
    isMoving(condition)
      ? Math.round(1_500 + 900 * Math.sin((at + index) / 3) + ((at * 7919 + index * 104_729) % 400))
      : condition === "stuck" && at < 3
        ? 900 - 300 * at
        : 0
  )

const migrationOf = (index: number, condition: Condition, now: number): Migration => {
  const total = condition === "waiting" ? 20_000 : 9_000 + ((index * 8_377) % 91_000)
  const imported_hourly = hourlyOf(condition, index)
  const imported_last_hour = imported_hourly.at(-1) ?? 0
  const states = statesOf(condition, total)
  const at = now + (20 + index * 5) * hour
  return {
    import_supplier: codeOf(index),
    organisation: index % 2 === 0 ? "north" : "south",
    time_zone: "Europe/Berlin",
    status: condition === "paused" ? "Paused" : condition === "done" ? "Complete" : "Ongoing",
    condition,
    reason: reasonOf(condition, states, imported_last_hour),
    total,
    planned: index % 3 === 0 ? total : null,
    states,
    lines_failed: condition === "stuck" ? 96 : 0,
    lines_remaining: condition === "stuck" ? states.PENDING : 0,
    lines_refused: 0,
    accounts_missing: 0,
    accounts_unexpected: 0,
    imported_last_hour,
    imported_hourly,
    balances_match: true,
    last_change_at: condition === "waiting" ? null : instant(now - index * 187_000),
    forecast: isMoving(condition)
      ? {
          open: states.PENDING + 8,
          at: instant(at),
          low: instant(at - 6 * hour),
          high: instant(at + 6 * hour)
        }
      : null
  }
}

export const migrations = (now: number): ReadonlyArray<Migration> =>
  shape
    .flatMap(([condition, many]) => Array.from({ length: many }, () => condition))
    .map((condition, index) => migrationOf(index, condition, now))

const codes: Detail["codes"] = [
  {
    code: "invalid_phone_number",
    meaning: "Not a possible phone number in international format.",
    remedy: "Send the number with a leading + and country code.",
    imports: 233
  },
  {
    code: "path_does_not_exist_in_file_store",
    meaning: "The document is not in the document store.",
    remedy: "Put the document there, then process the account again.",
    imports: 121
  },
  {
    code: "ledger_balances_not_equal_to_transfer_balance",
    meaning: "The balances of the ledgers do not sum up to the transfer balance.",
    remedy: "Correct the sum or the balances.",
    imports: 77
  },
  {
    code: "invalid_date",
    meaning: "Not a calendar day as YYYY-MM-DD.",
    remedy: "Send an existing day as YYYY-MM-DD.",
    imports: 30
  }
]

const dateOf = (at: number) => instant(at).slice(0, 10)

export const detail = (migration: Migration, now: number): Detail => ({
  at: instant(now),
  migration,
  plan:
    migration.planned === null
      ? null
      : {
          points: [
            { on: dateOf(now - 96 * hour), accounts: Math.round(migration.total * 0.1) },
            { on: dateOf(now), accounts: Math.round(migration.total * 0.75) },
            { on: dateOf(now + 48 * hour), accounts: migration.total }
          ]
        },
  codes: migration.states.FAILED > 0 ? codes : [],
  documents_missing: migration.states.FAILED > 0 ? 121 : 0,
  reverted: 3,
  oldest_open: ["NL-0004712", "NL-0004713", "NL-0009001"].map((number, index) => ({
    external_account_number: number,
    staged_at: instant(now - (170 - 20 * index) * hour),
    since: instant(now - (170 - 25 * index) * hour),
    code: index === 1 ? "account_failed_validation" : null,
    waits_for: index === 1 ? "It failed, and waits for a retry." : "It waits to be processed."
  })),
  money: {
    balance: "-1204518.36",
    ledgers: [
      { ledger_code: "ELECTRICITY_LEDGER", ledgers: 58_463, balance: "-981022.10" },
      { ledger_code: "GAS_LEDGER", ledgers: 40_118, balance: "-223496.26" }
    ],
    without_ledger: "0.00",
    added: "0.00",
    ties: true,
    compared: moneyCompared(true)
  },
  forecast_record: { made: 48, held: 40 }
})

/** Five days that end in the present counts. */
export const history = (migration: Migration, now: number, step: "hour" | "day"): History => {
  const length = step === "hour" ? 120 : 6
  const { states, total } = migration
  return {
    step,
    points: Array.from({ length }, (_, index) => {
      const done = (index + 1) / length
      const failed = Math.round(states.FAILED * Math.min(1, done * 1.4))
      return {
        at: instant(now - (length - 1 - index) * hour * (step === "hour" ? 1 : 24)),
        staged: Math.round(total * Math.min(1, 0.3 + done * 1.2)),
        imported: Math.round(states.IMPORTED * done ** 1.3),
        failed,
        codes: Object.fromEntries(
          codes.map(({ code, imports }, at) => [
            code,
            Math.round(imports * Math.min(1, done * (1 + at)))
          ])
        )
      }
    })
  }
}

export const cohorts = ({ states, total }: Migration): typeof Migrations.CohortsBody.Type => {
  const half = (count: number) => Math.floor(count / 2)
  const first = Object.fromEntries(
    Object.entries(states).map(([state, count]) => [state, half(count)])
  ) as unknown as Migration["states"]
  const rest = Object.fromEntries(
    Object.entries(states).map(([state, count]) => [state, count - half(count)])
  ) as unknown as Migration["states"]
  const sum = Object.values(first).reduce((all, count) => all + count, 0)
  return {
    cohorts: [
      { cohort: "wave-1", total: sum, states: first, lines_refused: 0 },
      { cohort: null, total: total - sum, states: rest, lines_refused: 0 }
    ],
    others: { cohorts: 0, total: 0, states: noCounts, lines_refused: 0 }
  }
}

type LineCounts = typeof BatchBodies.BoardBatchBody.Type.counts

const counts = (some: Pick<LineCounts, "received"> & Partial<LineCounts>): LineCounts => ({
  succeeded: 0,
  already: 0,
  failed: 0,
  cancelled: 0,
  remaining: 0,
  ...some
})

export const batches = (now: number): typeof BatchBodies.BoardBatchesBody.Type => {
  const batch = (id: number) => ({
    batch_id: `00000000-0000-4000-8000-00000000000${id}`,
    operation: "IMPORT",
    dry_run: false,
    paused_by: [],
    waiting_for: null,
    lines_per_second: null,
    created_at: instant(now - id * hour),
    finished_at: null
  })
  return {
    batches: [
      {
        ...batch(1),
        name: "wave 2, north",
        state: "RUNNING",
        lines_per_second: 1_240,
        counts: counts({
          received: 20_000,
          succeeded: 12_950,
          already: 12,
          failed: 38,
          remaining: 7_000
        })
      },
      {
        ...batch(2),
        name: null,
        state: "PAUSED",
        paused_by: ["FAILURES"],
        counts: counts({ received: 500, succeeded: 300, failed: 100, remaining: 100 })
      },
      {
        ...batch(3),
        name: "wave 1",
        state: "COMPLETED",
        finished_at: instant(now - 2 * hour),
        counts: counts({ received: 30_000, succeeded: 30_000 })
      },
      {
        ...batch(4),
        name: "Undo of wave-0",
        operation: "REVERT",
        state: "COMPLETED_WITH_FAILURES",
        finished_at: instant(now - 3 * hour),
        counts: counts({ received: 1_000, succeeded: 990, already: 4, failed: 6 })
      },
      {
        ...batch(5),
        name: null,
        operation: "PROCESS",
        dry_run: true,
        state: "COMPLETED_WITH_FAILURES",
        finished_at: instant(now - 4 * hour),
        counts: counts({ received: 2_000, succeeded: 1_900, failed: 100 })
      },
      {
        ...batch(6),
        name: "wave 1, late",
        state: "COMPLETED_WITH_FAILURES",
        finished_at: instant(now - 5 * hour),
        counts: counts({ received: 2_000, succeeded: 1_920, failed: 80 })
      }
    ]
  }
}

/** Of a cohort with something of everything; all that was added ends with it if it may. */
export const undoPreview = (
  now: number,
  withAdditions: boolean
): typeof Migrations.UndoPreviewBody.Type => ({
  at: instant(now),
  total: 10_925,
  accounts: withAdditions ? 10_690 : 10_680,
  balance: "-602259.18",
  added: withAdditions ? "120.00" : "0.00",
  additions: withAdditions
    ? { transactions: 12, notes: 1, statements: 0, payment_instructions: 3 }
    : { transactions: 0, notes: 0, statements: 0, payment_instructions: 0 },
  payment_instructions: withAdditions ? [{ vendor: "STRIPE", accounts: 3 }] : [],
  closes_at: instant(now + 30 * hour),
  refused: [
    { code: "revert_window_closed", accounts: 231, closed_at: instant(now - 2 * hour) },
    ...(withAdditions ? [] : [{ code: "account_has_additions", accounts: 10, closed_at: null }]),
    { code: "account_import_process_in_progress", accounts: 4, closed_at: null }
  ]
})

export const batch = (
  id: string,
  now: number
): typeof BatchBodies.BoardBatchDetailBody.Type | undefined => {
  const found = batches(now).batches.find(({ batch_id }) => batch_id === id)
  if (found === undefined) return undefined
  const { failed } = found.counts
  const cohort = found.name === "wave 1, late" ? "wave-1" : null
  const forecast = found.dry_run ? forecastOf(found.counts) : null
  const outcome = found.dry_run ? outcomeOf(instant(now)) : null
  const revert =
    found.operation === "REVERT"
      ? { cohort: "wave-0", reason: "All balances have the wrong sign", with_additions: false }
      : null
  const [phone, document] = codes
  const of = (code: (typeof codes)[number], attr: string, lines: number, cleared: number) => ({
    code: code.code,
    meaning: code.meaning,
    remedy: code.remedy,
    attr,
    lines,
    cleared,
    examples: [
      { line: 12, external_account_number: "NL-0004712", ...errorText },
      { line: 97, external_account_number: null, ...errorText }
    ]
  })
  if (failed === 0 || phone === undefined || document === undefined) {
    return { batch: found, cohort, revert, forecast, outcome, problems: [] }
  }
  const most = Math.ceil(failed * 0.8)
  return {
    batch: found,
    cohort,
    revert,
    forecast,
    outcome,
    problems: [
      of(phone, "customers.*.landline", most, most),
      of(document, "statements.*.statement_path", failed - most, failed)
    ]
  }
}

export const problems = ({ states }: Migration): typeof Migrations.BoardProblemsBody.Type => ({
  failed: states.FAILED,
  of: states.FAILED,
  groups:
    states.FAILED === 0
      ? []
      : codes.map(({ imports, ...code }, index) => ({
          ...code,
          attr:
            ["customers.*.landline", "documents.*.path", "non_field_errors", "date_of_sale"][
              index
            ] ?? "",
          imports,
          cleared: [200, 310, 390, 412][index] ?? 0,
          examples: ["NL-0000112", "NL-0000391"].map((external_account_number) => ({
            external_account_number,
            ...errorText,
            attr: "customers.0.landline"
          }))
        }))
})
