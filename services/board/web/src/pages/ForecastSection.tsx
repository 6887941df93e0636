/** What the real run of a rehearsal would do: its sums, its duration, and what was not considered. */
import { durationWords } from "@data-import/domain/batches/ForecastWords"
import type { BatchForecast } from "../data/Answers.ts"
import { Fact } from "../parts/Fact.tsx"
import { Section } from "../parts/Section.tsx"
import { count, counted, money } from "../text/Numbers.ts"
import { forecastText } from "../text/Rehearsal.ts"

type Sums = NonNullable<BatchForecast["sums"]>

interface RowProps {
  readonly name: string
  readonly number: number
  readonly amount: string
}

const Row = ({ amount, name, number }: RowProps) => (
  <tr>
    <th scope="row">{name}</th>
    <td class="number">{count(number)}</td>
    <td class="number">{money(amount)}</td>
  </tr>
)

const Created = ({ sums }: { readonly sums: Sums }) => (
  <table class="plain">
    <caption class="hidden">What the real run would create</caption>
    <thead>
      <tr>
        <th scope="col">Created</th>
        <th scope="col" class="number">
          Number
        </th>
        <th scope="col" class="number">
          Sum
        </th>
      </tr>
    </thead>
    <tbody>
      {sums.ledger_balances.map(({ balance, ledger_code: ledger, ledgers }) => (
        <Row key={ledger} name={ledger} number={ledgers} amount={balance} />
      ))}
      {sums.transactions.map(({ amount, count, reason, type }) => {
        const name = reason === null ? type : `${type}, ${reason}`
        return <Row key={name} name={name} number={count} amount={amount} />
      })}
      <Row
        name="Statements, gross"
        number={sums.statements.count}
        amount={sums.statements.gross_amount}
      />
    </tbody>
    <tfoot>
      <Row name="Accounts, balance" number={sums.accounts} amount={sums.balance} />
    </tfoot>
  </table>
)

export const ForecastSection = ({ forecast }: { readonly forecast: BatchForecast }) => {
  const { documents_missing: documents, duration, not_considered, sums } = forecast
  return (
    <Section id="forecast" class="wide" title="Forecast" note={forecastText(forecast)}>
      <dl class="facts">
        <Fact name="The real run would take">
          {duration === null ? "not known before a line was tried" : durationWords(duration)}
        </Fact>
        <Fact name="Documents missing">
          {documents === 0 ? "none" : `for ${counted(documents, "line")}`}
        </Fact>
        <Fact name="Not considered">{not_considered.join(" ")}</Fact>
      </dl>
      {sums !== null && <Created sums={sums} />}
    </Section>
  )
}
