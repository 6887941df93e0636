/**
 * A background task of the board: it finds what users are to be told of. One instance at a time
 * does so each minute. It reads stored counts, and nothing while nobody wants to be told.
 * Source: docs/contract/board.md#kinds-of-alerts.
 */
import { DateTime, Duration, Effect } from "effect"
import {
  type Known,
  type KnownDependencies,
  readKnown,
  standingOf
} from "../migrations/KnownMigrations.ts"
import { reasonFor } from "../migrations/Condition.ts"
import type { CohortCounts } from "../migrations/Migrations.ts"
import { accounts, inEnglish, lines } from "../migrations/OpenWorkText.ts"
import type { WavePlans } from "../migrations/WavePlans.ts"
import type { Configuration } from "../suppliers/Configuration.ts"
import { isLive, type Supplier, type SupplierCode } from "../suppliers/Supplier.ts"
import type { Finding } from "./Alert.ts"
import type { Alerts } from "./Alerts.ts"

export interface WatchDependencies extends KnownDependencies {
  readonly alerts: Alerts["Service"]
  readonly configuration: Configuration["Service"]
  readonly plans: WavePlans["Service"]
}

/** Less than the pause between turns, so that the same instance may have the next one, too. */
const oneTurnIn = Duration.seconds(50)

/** How long an event waits to be found, for example while no board runs. */
const past = { days: 1 }

const mostCohorts = 1_000
const mostAltered = 1_000

const conditionsOf = (
  known: Known,
  shares: ReadonlyArray<number>,
  at: DateTime.Utc
): ReadonlyArray<Finding> => {
  const standing = standingOf(known, at)
  const found = (kind: Finding["kind"], what: string, reason: string | null) =>
    reason === null ? [] : [{ kind, supplier: known.supplier.code, what, reason, happenedAt: null }]
  return [
    ...found("stuck", "", reasonFor("stuck", standing)),
    ...shares.flatMap((share) =>
      found("failing", String(share), reasonFor("failing", standing, share))
    ),
    ...found("late", "", reasonFor("slow", standing))
  ]
}

const ofWave = ({ linesRefused, states }: Omit<CohortCounts, "cohort">): string => {
  const { FAILED, IMPORTED } = states
  const refused =
    linesRefused === 0
      ? ""
      : ` ${lines(linesRefused)} ${linesRefused === 1 ? "was" : "were"} refused.`
  return `${accounts(IMPORTED)} ${IMPORTED === 1 ? "is" : "are"} imported, ${inEnglish(FAILED)} failed.${refused}`
}

const waves = Effect.fnUntraced(function* (
  { migrations, plans }: WatchDependencies,
  suppliers: ReadonlyArray<SupplierCode>,
  at: DateTime.Utc
) {
  const ended = yield* plans.ended({ suppliers, since: DateTime.subtract(at, past) })
  const found: Array<Finding> = []
  for (const [supplier, own] of Map.groupBy(ended, (wave) => wave.supplier)) {
    const { cohorts } = yield* migrations.cohorts({ supplier, limit: mostCohorts, at })
    for (const { cohort, endedAt } of own) {
      const counted = cohorts.find((each) => each.cohort === cohort)
      if (counted === undefined) continue
      const { IN_PROGRESS, PENDING } = counted.states
      if (PENDING + IN_PROGRESS > 0) continue
      const reason = ofWave(counted)
      found.push({ kind: "wave_finished", supplier, what: cohort, reason, happenedAt: endedAt })
    }
  }
  return found
})

const certificates = Effect.fnUntraced(function* (
  { alerts }: WatchDependencies,
  suppliers: ReadonlyArray<Supplier>,
  at: DateTime.Utc
) {
  const since = DateTime.subtract(at, past)
  const differing = yield* alerts.differingCertificates({ suppliers, since })
  const altered = yield* alerts.alteredAccounts({
    suppliers: suppliers.map(({ code }) => code),
    limit: mostAltered
  })
  const kind = "certificate_differs" as const
  return [
    ...differing.map(
      ({ accounts: certified, cohort, endedAt, expected, id, supplier }): Finding => {
        const of = cohort === null ? "all accounts" : cohort
        const reason =
          expected === null || expected === certified
            ? `The certificate of ${of} has other sums of money than were expected.`
            : `The certificate of ${of} has ${accounts(certified)}, and ${inEnglish(expected)} ` +
              `${expected === 1 ? "was" : "were"} expected.`
        return { kind, supplier, what: id, reason, happenedAt: endedAt }
      }
    ),
    ...altered.map(({ accounts: count, supplier }): Finding => {
      const more = count === mostAltered ? "At least " : ""
      const reason =
        `${more}${accounts(count)} ${count === 1 ? "is" : "are"} not as imported or certified, ` +
        `as the scheduled checks found. Ask the operator.`
      return { kind, supplier, what: "", reason, happenedAt: null }
    })
  ]
})

/** Finds what is to be told, unless another instance has just done so. */
export const watchOnce = Effect.fnUntraced(function* (deps: WatchDependencies) {
  const at = yield* DateTime.now
  if (!(yield* deps.alerts.begin({ at, pause: oneTurnIn }))) return
  const shares = yield* deps.alerts.shares
  // Conditions are not known while nobody wants to be told, so none of them goes on.
  if (shares === null) return yield* deps.alerts.raise({ found: [], at })
  const all = yield* deps.configuration.suppliers
  const live = all.filter(isLive)
  const known = yield* readKnown(deps, live, at)
  const found = [
    ...known.flatMap((each) => conditionsOf(each, shares, at)),
    ...(yield* waves(
      deps,
      live.map(({ code }) => code),
      at
    )),
    ...(yield* certificates(deps, live, at))
  ]
  yield* deps.alerts.raise({ found, at })
})
