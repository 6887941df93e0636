/** What the real run of a rehearsal would do: its sums, its duration, and what was not considered. */
import type { ComponentChildren } from "preact"
import { durationWords } from "@data-import/domain/batches/ForecastWords"
import type { BatchForecast } from "../data/Answers.ts"
import { Fact } from "../parts/Fact.tsx"
import { Section } from "../parts/Section.tsx"
import { Link } from "../routing/Location.tsx"
import { pages } from "../routing/Paths.ts"
import { count, counted, money } from "../text/Numbers.ts"
import { forecastText } from "../text/Rehearsal.ts"

const missingDocument = "path_does_not_exist_in_file_store"

type Sums = NonNullable<BatchForecast["sums"]>

interface RowProps {
  readonly name: string
  readonly number: ComponentChildren
  readonly amount: string
}

const Row = ({ amount, name, number }: RowProps) => (
  <tr>
    <th scope="row">{name}</th>
    <td class="number">{number}</td>
    <td class="number">{money(amount)}</td>
  </tr>
)

/** `to` has the lines that would create accounts. */
const Created = ({ sums, to }: { readonly sums: Sums; readonly to: string }) => (
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
        <Row key={ledger} name={ledger} number={count(ledgers)} amount={balance} />
      ))}
      {sums.transactions.map(({ amount, count: number, reason, type }) => {
        const name = reason === null ? type : `${type}, ${reason}`
        return <Row key={name} name={name} number={count(number)} amount={amount} />
      })}
      <Row
        name="Statements, gross"
        number={count(sums.statements.count)}
        amount={sums.statements.gross_amount}
      />
    </tbody>
    <tfoot>
      <Row
        name="Accounts, balance"
        number={<Link to={to}>{count(sums.accounts)}</Link>}
        amount={sums.balance}
      />
    </tfoot>
  </table>
)

interface Props {
  readonly supplier: string
  readonly batch: string
  readonly forecast: BatchForecast
}

export const ForecastSection = ({ batch, forecast, supplier }: Props) => {
  const failed = { outcome: "FAILED", code: missingDocument }
  const { documents_missing: documents, duration, not_considered, sums } = forecast
  return (
    <Section id="forecast" class="wide" title="Forecast" note={forecastText(forecast)}>
      <dl class="facts">
        <Fact name="The real run would take">
          {duration === null ? "not known before a line was tried" : durationWords(duration)}
        </Fact>
        <Fact name="Documents missing at the rehearsal">
          {documents === 0 ? (
            "none"
          ) : (
            <Link to={pages.lines(supplier, batch, failed)}>{counted(documents, "line")}</Link>
          )}
        </Fact>
        <Fact name="Not considered">{not_considered.join(" ")}</Fact>
      </dl>
      {sums !== null && (
        <Created sums={sums} to={pages.lines(supplier, batch, { outcome: "SUCCEEDED" })} />
      )}
    </Section>
  )
}
