/**
 * The programme as the board answers it.
 * Source: docs/contract/board.md#programme.
 */
import { type BigDecimal, DateTime, type Effect } from "effect"
import { conditions } from "../migrations/Condition.ts"
import { expectedBalance, type ExpectedMoney } from "../migrations/ControlTotals.ts"
import { judgementOf, type Known } from "../migrations/KnownMigrations.ts"
import type { PastCounts, StateCounts } from "../migrations/Migrations.ts"
import { openAccounts } from "../migrations/OpenWorkText.ts"
import { plannedAt, sumOfPlans } from "../migrations/Plan.ts"
import type { MigrationMoney, Programme } from "../migrations/Programme.ts"
import type { EndedWave, PlannedWave } from "../migrations/WavePlans.ts"
import { wholeForecast } from "../migrations/WholeForecast.ts"
import { isEqual, sum, twoDecimals } from "../schema/Decimal.ts"
import { type CalendarDate, formatInstant } from "../schema/Field.ts"
import { businessDay, type TimeZone } from "../suppliers/BusinessDay.ts"
import type { OrganisationName } from "../suppliers/Organisation.ts"
import { type Supplier, type SupplierCode, wireCode } from "../suppliers/Supplier.ts"
import { totalOf } from "./MigrationBodies.ts"
import type { problemsOfSuppliers } from "./Problems.ts"

type SignOffs = Effect.Success<ReturnType<Programme["Service"]["signOffs"]>>

export interface KnownProgramme {
  readonly at: DateTime.Utc
  /** What changed since then is told. */
  readonly since: DateTime.Utc
  readonly organisation: string | null
  readonly organisations: ReadonlyArray<OrganisationName>
  readonly known: ReadonlyArray<Known>
  readonly money: ReadonlyArray<MigrationMoney>
  readonly expected: ReadonlyMap<SupplierCode, ReadonlyArray<ExpectedMoney>>
  readonly history: ReadonlyArray<PastCounts & { readonly at: DateTime.Utc }>
  readonly failedBefore: number
  readonly problems: ReturnType<typeof problemsOfSuppliers>
  readonly conditions: ReadonlyMap<SupplierCode, string>
  readonly ended: ReadonlyArray<EndedWave>
  readonly signOffs: SignOffs
  /** The planned waves of the coming days that are not done. */
  readonly ahead: ReadonlyArray<WaveAhead>
  /** Whether the user may see the sums of certificates. */
  readonly showsSums: boolean
}

const total = <A>(of: ReadonlyArray<A>, part: (each: A) => number): number =>
  of.reduce((all, each) => all + part(each), 0)

const statesOf = (known: ReadonlyArray<Known>): StateCounts => {
  const count = (state: keyof StateCounts) => total(known, ({ counts }) => counts.states[state])
  return {
    PENDING: count("PENDING"),
    FAILED: count("FAILED"),
    IN_PROGRESS: count("IN_PROGRESS"),
    SKIPPED: count("SKIPPED"),
    IMPORTED: count("IMPORTED"),
    ERASED: count("ERASED")
  }
}

const amounts = (of: ReadonlyArray<BigDecimal.BigDecimal>): string => twoDecimals(sum(of))

const moneyBody = ({ expected: entered, known, money, showsSums }: KnownProgramme) => {
  const sentOf = new Map(
    known.map(({ counts, supplier }) => [supplier.code, totalOf(counts.states)])
  )
  const compared = money.flatMap(({ imported, supplier }) => {
    const expected = expectedBalance(entered.get(supplier) ?? [], sentOf.get(supplier) ?? 0)
    return expected === null ? [] : [{ expected, imported }]
  })
  const certified = money.flatMap((each) => (each.certified === null ? [] : [each.certified]))
  return {
    imported: amounts(money.map(({ imported }) => imported)),
    added: amounts(money.map(({ added }) => added)),
    expected: {
      migrations: compared.length,
      balance: amounts(compared.map(({ expected }) => expected)),
      arrived: amounts(compared.map(({ imported }) => imported)),
      differ: compared.filter(({ expected, imported }) => !isEqual(expected, imported)).length
    },
    certified: {
      migrations: certified.length,
      accounts: total(certified, ({ accounts }) => accounts),
      balance: showsSums ? amounts(certified.map(({ balance }) => balance)) : null
    }
  }
}

/** Whether something of it is to be imported yet. */
const isOpen = ({ counts, linesToDo, supplier, unstaged }: Known): boolean =>
  supplier.status !== "Complete" &&
  openAccounts(counts.states) + linesToDo + unstaged.refused + unstaged.missing > 0

const forecastBody = (known: ReadonlyArray<Known>) => {
  const forecasts = known.flatMap(({ forecast }) => (forecast === null ? [] : [forecast]))
  const whole = wholeForecast(forecasts)
  return {
    of: forecasts.length,
    without: known.filter((each) => isOpen(each) && each.forecast === null).length,
    whole: whole && {
      open: whole.open,
      low: formatInstant(whole.low),
      at: formatInstant(whole.at),
      high: formatInstant(whole.high)
    }
  }
}

const planBody = (known: ReadonlyArray<Known>, at: DateTime.Utc) => {
  const planned = known.flatMap(({ counts, plan, supplier }) =>
    plan === null ? [] : [{ plan, zone: supplier.timeZone, imported: counts.states.IMPORTED }]
  )
  return {
    migrations: planned.length,
    now: total(planned, ({ plan, zone }) => plannedAt(plan, zone, at)),
    imported: total(planned, ({ imported }) => imported),
    points: sumOfPlans(planned)
  }
}

/** Those that are in another condition than they were, the worst first. */
const conditionChanges = ({ at, conditions: before, known }: KnownProgramme) =>
  known
    .flatMap((each) => {
      const { condition, reason } = judgementOf(each, at)
      const from = before.get(each.supplier.code)
      return from === undefined || from === condition
        ? []
        : [{ import_supplier: wireCode(each.supplier.code), from, to: condition, reason }]
    })
    .toSorted((one, other) => conditions.indexOf(one.to) - conditions.indexOf(other.to))

const sinceBody = (told: KnownProgramme) => {
  const { ended, failedBefore, known, signOffs, since } = told
  const complete = new Set(
    known.flatMap(({ supplier: { code, status } }) => (status === "Complete" ? [code] : []))
  )
  return {
    at: formatInstant(since),
    imported: total(known, ({ counts }) => total(counts.importedHourly, (hour) => hour)),
    failed_before: failedBefore,
    conditions: conditionChanges(told),
    waves: ended.map(({ cohort, endedAt, supplier }) => ({
      import_supplier: wireCode(supplier),
      cohort,
      ended_at: formatInstant(endedAt)
    })),
    signed_off: signOffs
      .filter(({ supplier }) => complete.has(supplier))
      .map((each) => ({
        import_supplier: wireCode(each.supplier),
        by: each.by,
        at: formatInstant(each.at)
      }))
  }
}

/** How far ahead waves are told. */
const ahead = { days: 14 }

interface WaveAhead {
  readonly wave: PlannedWave
  readonly startsOn: CalendarDate
  readonly zone: TimeZone
}

/** The planned waves that are to start in the coming days, by day. */
export const wavesAhead = (
  planned: ReadonlyArray<PlannedWave>,
  suppliers: ReadonlyArray<Pick<Supplier, "code" | "timeZone">>,
  at: DateTime.Utc
): ReadonlyArray<WaveAhead> => {
  const zoneOf = new Map(suppliers.map(({ code, timeZone }) => [code, timeZone]))
  return planned
    .flatMap((wave): ReadonlyArray<WaveAhead> => {
      const { startsOn, supplier } = wave
      const zone = zoneOf.get(supplier)
      if (zone === undefined || startsOn === null || startsOn < businessDay(at, zone)) return []
      const last = businessDay(DateTime.add(at, ahead), zone)
      return startsOn > last ? [] : [{ wave, startsOn, zone }]
    })
    .toSorted((one, other) => one.startsOn.localeCompare(other.startsOn))
}

const aheadBody = ({
  startsOn,
  wave: { accounts, cohort, owner, start, supplier },
  zone
}: WaveAhead) => ({
  import_supplier: wireCode(supplier),
  cohort,
  starts_on: startsOn,
  owner,
  accounts,
  starts_at: start === null ? null : formatInstant(start.at),
  time_zone: zone
})

export const programmeBody = (told: KnownProgramme) => {
  const { at, history, known, organisation, organisations, problems } = told
  const states = statesOf(known)
  const judged = known.map((each) => judgementOf(each, at).condition)
  return {
    at: formatInstant(at),
    organisation,
    organisations,
    migrations: known.length,
    conditions: Object.fromEntries(
      conditions.map((name) => [name, judged.filter((each) => each === name).length])
    ) as Readonly<Record<(typeof conditions)[number], number>>,
    total: total(Object.values(states), (count) => count),
    states,
    lines_refused: total(known, ({ unstaged }) => unstaged.refused),
    accounts_missing: total(known, ({ unstaged }) => unstaged.missing),
    untied: known.filter(({ counts }) => !counts.moneyTies).length,
    money: moneyBody(told),
    forecast: forecastBody(known),
    plan: planBody(known, at),
    history: history.map(({ at: end, failed, imported, staged }) => ({
      at: formatInstant(end),
      staged,
      imported,
      failed
    })),
    problems,
    since: sinceBody(told),
    ahead: told.ahead.map(aheadBody)
  }
}
