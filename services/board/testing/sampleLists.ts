/** Lists behind numbers of the board, for looking at its pages: lines of a batch, and forecasts. */
import type * as BatchBodies from "@data-import/api/board/Batches"
import type * as Migrations from "@data-import/api/board/Migrations"
import { batch, instant, errorText } from "./sampleMigrations.ts"

type Lines = typeof BatchBodies.BatchLinesBody.Type

const hour = 3_600_000

const pageLength = 100

/** Lines with this outcome; of failed ones the first problem is another one in turn. */
export const lines = (id: string, query: URLSearchParams, now: number): Lines | undefined => {
  const found = batch(id, now)
  if (found === undefined) return undefined
  const outcome = (query.get("outcome") ?? "SUCCEEDED") as Lines["lines"][number]["outcome"]
  const name = outcome.toLowerCase() as Lowercase<typeof outcome>
  const { counts } = found.batch
  const total = query.get("outcome") === null ? counts.received : counts[name]
  const after = Number(query.get("after") ?? 0)
  const end = Math.min(total, after + pageLength)
  const problem = (line: number) => found.problems[line % found.problems.length]
  return {
    batch: found.batch,
    total,
    next_after: end < total ? end : null,
    lines: Array.from({ length: Math.max(0, end - after) }, (_, index) => {
      const line = after + index + 1
      const { attr = "", code = "" } = problem(line) ?? {}
      return {
        line,
        external_account_number: line % 7 === 0 ? null : `NL-${String(line).padStart(7, "0")}`,
        kraken_account_number: outcome === "SUCCEEDED" ? `A-${10_000 + line}` : null,
        outcome,
        problems: outcome === "FAILED" ? [{ code, attr, ...errorText }] : []
      }
    })
  }
}

/** The surprises of a rehearsal. */
export const outcomeLines = (
  id: string,
  now: number
): typeof BatchBodies.OutcomeLinesBody.Type | undefined => {
  const found = batch(id, now)
  return found && { batch: found.batch, lines: found.outcome?.surprises ?? [], next_after: null }
}

/** One a day, of which the last two are not settled. */
export const forecasts = (now: number): typeof Migrations.ForecastsBody.Type => ({
  time_zone: "Europe/Berlin",
  made: 48,
  held: 40,
  forecasts: Array.from({ length: 50 }, (_, index) => {
    const madeAt = now - index * 24 * hour
    return {
      made_at: instant(madeAt),
      open: 20_000 + 900 * index,
      low: instant(madeAt + 40 * hour),
      at: instant(madeAt + 46 * hour),
      high: instant(madeAt + 58 * hour),
      held: index < 2 ? null : index % 6 !== 5
    }
  })
})
