/** Whether the money is right: balances by ledger, and the sums that must tie. */
import type { MigrationDetail } from "../data/Answers.ts"
import { Section } from "../parts/Section.tsx"
import { count, money } from "../text/Numbers.ts"

type Money = MigrationDetail["money"]

const Row = ({ amount, name, number }: { amount: string; name: string; number?: string }) => (
  <tr>
    <th scope="row">{name}</th>
    <td class="number">{number}</td>
    <td class="number">{money(amount)}</td>
  </tr>
)

const Sums = ({ sums }: { readonly sums: Money }) => (
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
      {sums.ledgers.map(({ balance, ledger_code, ledgers }) => (
        <Row key={ledger_code} name={ledger_code} number={count(ledgers)} amount={balance} />
      ))}
      <Row name="Accounts without ledgers" amount={sums.without_ledger} />
      <Row name="Transactions added after the import" amount={sums.added} />
    </tbody>
    <tfoot>
      <Row name="Balance of all accounts" amount={sums.balance} />
    </tfoot>
  </table>
)

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
    <Sums sums={detail.money} />
  </Section>
)
