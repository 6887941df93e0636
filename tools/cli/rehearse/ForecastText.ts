/** The forecast of a rehearsal, for people. */
import type { Answer } from "@data-import/client/effect"
import type { ForecastBody } from "@data-import/domain/batches/BatchForecast"
import { durationWords } from "@data-import/domain/batches/ForecastWords"
import { inEnglish, line, plain, printable, table } from "@data-import/terminal/Answer"

/** As the service answers it. */
export type Forecast = Answer<"batches", "getBatchForecast">

/** Whether the real run would leave nothing undone. */
export const isClean = ({ lines }: Forecast): boolean => lines.would_fail + lines.not_tried === 0

const linesText = ({ already, not_tried, total, would_fail, would_succeed }: Forecast["lines"]) => {
  const parts = [
    `${inEnglish(would_succeed)} would be created`,
    `${inEnglish(already)} already`,
    `${inEnglish(would_fail)} would fail`,
    ...(not_tried > 0 ? [`${inEnglish(not_tried)} not tried`] : [])
  ]
  return `${inEnglish(total)} lines = ${parts.join(" + ")}`
}

const sumsText = (sums: Forecast["sums"]): ReadonlyArray<string> => {
  if (sums === null)
    return ["What would be created is not added up for a key without account:read."]
  const ledgers = sums.ledger_balances.map(({ balance, ledger_code, ledgers }) => ({
    ledger_code: plain(ledger_code),
    ledgers: inEnglish(ledgers),
    balance
  }))
  const transactions = sums.transactions.map(({ amount, count, reason, type }) => ({
    type,
    reason: plain(reason),
    transactions: inEnglish(count),
    amount
  }))
  const { count, gross_amount } = sums.statements
  return [
    [
      line("accounts", inEnglish(sums.accounts)),
      line("balance", sums.balance),
      line("statements", `${inEnglish(count)}, gross amount ${gross_amount}`)
    ].join("\n"),
    ...(ledgers.length > 0 ? [table(["ledger_code", "ledgers", "balance"], ledgers)] : []),
    ...(transactions.length > 0
      ? [table(["type", "reason", "transactions", "amount"], transactions)]
      : [])
  ]
}

const durationText = (duration: ForecastBody["duration"]): string =>
  duration === null ? "not known before a line was tried" : durationWords(duration)

/** What the real run would do, in paragraphs. Its problems are printed by their own table. */
export const forecastText = (forecast: Forecast): ReadonlyArray<string> => [
  [
    `Forecast of the dry run ${forecast.batch_id} (${forecast.state})`,
    line("lines", linesText(forecast.lines)),
    line("documents_missing", inEnglish(forecast.documents_missing)),
    line("the real run would take", durationText(forecast.duration))
  ].join("\n"),
  ...sumsText(forecast.sums),
  ["Not considered:", ...forecast.not_considered.map((what) => `- ${printable(what)}`)].join("\n")
]
