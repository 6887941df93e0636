/** The outcome of a rehearsal, for people. */
import type { Answer } from "@data-import/client/effect"
import { durationWords } from "@data-import/domain/batches/ForecastWords"
import { inEnglish, line, plain, table } from "@data-import/terminal/Answer"

/** As the service answers them. */
export type Outcome = Answer<"batches", "getBatchOutcome">
export type Surprise = Answer<"batches", "listOutcomeLines">[number]

const shareText = ({ as_predicted, compared, share_as_predicted: share }: Outcome): string =>
  share === null
    ? "nothing to compare"
    : // A share with a surprise is never shown as all.
      `${(Math.floor(share * 10_000) / 100).toFixed(2)} %, ` +
      `${inEnglish(as_predicted)} of ${inEnglish(compared)} lines`

const sumsText = (sums: Outcome["sums"]): string => {
  if (sums === null) return "What was created is not added up for a key without account:read."
  const { predicted, real } = sums
  const ledgersOf = ({ ledger_balances }: typeof predicted) =>
    new Map(ledger_balances.map(({ balance, ledger_code }) => [ledger_code, balance]))
  const [before, after] = [ledgersOf(predicted), ledgersOf(real)]
  const ledgers = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return table(
    ["sum", "predicted", "real"],
    [
      {
        sum: "accounts",
        predicted: inEnglish(predicted.accounts),
        real: inEnglish(real.accounts)
      },
      { sum: "balance", predicted: predicted.balance, real: real.balance },
      ...ledgers.map((code) => ({
        sum: plain(code),
        predicted: before.get(code) ?? null,
        real: after.get(code) ?? null
      }))
    ]
  )
}

const surprisesText = (surprises: ReadonlyArray<Surprise>, all: number): string => {
  if (all === 0) return "No surprises."
  const shown = surprises.map(({ external_account_number, ...each }) => ({
    ...each,
    line: String(each.line),
    external_account_number: plain(external_account_number)
  }))
  const members = ["line", "external_account_number", "predicted", "happened", "finally"]
  const more = all - surprises.length
  return [
    `Surprises: ${inEnglish(all)}`,
    table(members, shown),
    ...(more > 0 ? [`and ${inEnglish(more)} more`] : [])
  ].join("\n")
}

/** The comparison in paragraphs, with the first of `all` surprises. */
export const outcomeText = (
  outcome: Outcome,
  surprises: ReadonlyArray<Surprise>,
  all: number
): string => {
  const { predicted_duration, real_run } = outcome
  const predicted = predicted_duration === null ? "not known" : durationWords(predicted_duration)
  const took = real_run === null ? "no whole run yet" : `${inEnglish(real_run.seconds)} seconds`
  const pairs = outcome.table.map((pair) => ({ ...pair, lines: inEnglish(pair.lines) }))
  return [
    [
      `Outcome of the dry run ${outcome.batch_id} as of ${outcome.at}`,
      line("as predicted", shareText(outcome)),
      line("predicted duration", predicted),
      line("real duration", took)
    ].join("\n"),
    table(["predicted", "happened", "lines"], pairs),
    sumsText(outcome.sums),
    surprisesText(surprises, all)
  ].join("\n\n")
}
