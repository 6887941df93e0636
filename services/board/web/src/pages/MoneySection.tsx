/** Whether the money is right: balances by ledger, and the sums that must tie. */
import type { MigrationDetail } from "../data/Answers.ts"
import { Section } from "../parts/Section.tsx"
import { Link } from "../routing/Location.tsx"
import { pages } from "../routing/Paths.ts"
import { count, money } from "../text/Numbers.ts"

type Money = MigrationDetail["money"]

interface RowProps {
  readonly amount: string
  readonly name: string
  readonly number?: string
  /** The accounts that it is the sum of. */
  readonly to: string
}

const Row = ({ amount, name, number, to }: RowProps) => (
  <tr>
    <th scope="row">{name}</th>
    <td class="number">{number !== undefined && <Link to={to}>{number}</Link>}</td>
    <td class="number">
      <Link to={to}>{money(amount)}</Link>
    </td>
  </tr>
)

const Sums = ({ sums, supplier }: { readonly sums: Money; readonly supplier: string }) => {
  const accounts = (part: string) => pages.imports(supplier, { money: part })
  return (
    <table class="plain">
      <caption class="hidden">Balances by ledger, and what they come to</caption>
      <thead>
        <tr>
          <th scope="col">Ledger</th>
          <th scope="col" class="number">
            Ledgers
          </th>
          <th scope="col" class="number">
            Balance
          </th>
        </tr>
      </thead>
      <tbody>
        {sums.ledgers.map(({ balance, ledger_code: ledger, ledgers }) => (
          <Row
            key={ledger}
            name={ledger}
            number={count(ledgers)}
            amount={balance}
            to={pages.imports(supplier, { ledger })}
          />
        ))}
        <Row
          name="Accounts without ledgers"
          amount={sums.without_ledger}
          to={accounts("without_ledger")}
        />
        <Row
          name="Transactions added after the import"
          amount={sums.added}
          to={accounts("added")}
        />
      </tbody>
      <tfoot>
        <Row name="Balance of all accounts" amount={sums.balance} to={accounts("balance")} />
      </tfoot>
    </table>
  )
}

export const MoneySection = ({ detail }: { readonly detail: MigrationDetail }) => (
  <Section
    id="money"
    title="Money"
    note={
      detail.money.ties ? (
        <span class="good">✓ Ledgers and additions come to the balance exactly.</span>
      ) : (
        <span class="bad">
          ✗ Ledgers and additions do not come to the balance. Tell your operator.
        </span>
      )
    }
  >
    <Sums sums={detail.money} supplier={detail.migration.import_supplier} />
  </Section>
)
