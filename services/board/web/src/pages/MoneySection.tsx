/**
 * Whether the money is right: balances by ledger, the sums that must tie, and what to compare with
 * the supplier's own books.
 */
import type { MigrationDetail } from "../data/Answers.ts"
import { Section } from "../parts/Section.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { useIsManager, useIsSupplier } from "../data/User.ts"
import { answers, pages } from "../routing/Paths.ts"
import { count, counted, money } from "../text/Numbers.ts"

type Money = MigrationDetail["money"]

interface RowProps {
  readonly amount: string
  readonly name: string
  readonly number?: string
  /** The link to the accounts that make up the sum. */
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

const unit =
  "Amounts are as the supplier sends them, with two decimals and without a currency: " +
  "credit is positive, debit negative."

/** Says what was compared, and what only the supplier can compare. */
const Comparison = ({ detail }: { readonly detail: MigrationDetail }) => {
  const { at, migration, money: sums, reverted } = detail
  const { import_supplier: supplier, states, time_zone: zone } = migration
  const isManager = useIsManager()
  const isSupplier = useIsSupplier()
  return (
    <>
      <p>{sums.compared}</p>
      <p>
        {isSupplier ? "Compare with your total of" : "Ask the supplier for its total of"}{" "}
        <Link to={pages.imports(supplier, { money: "balance" })}>
          the {counted(states.IMPORTED, "imported account")}
        </Link>
        . Here it is{" "}
        <Link to={pages.imports(supplier, { money: "balance" })}>
          <strong>{money(sums.balance)}</strong>
        </Link>{" "}
        as of <Time at={at} zone={zone} />, with what was added after the import (
        <a href={answers.of(supplier, "summary.csv")} download>
          totals as CSV
        </a>
        ).
        {states.ERASED > 0 && " It includes accounts that were erased after their import."}
        {reverted > 0 && (
          <>
            {" "}
            It leaves out{" "}
            <Link to={pages.audit({ import_supplier: supplier, action: "revert_import" })}>
              {counted(reverted, "account that was", "accounts that were")} reverted
            </Link>
            .
          </>
        )}{" "}
        {unit}
      </p>
      <p>
        If the totals differ, compare account by account:{" "}
        {isManager ? (
          <a href={answers.of(supplier, "balances.csv")} download>
            all {counted(states.IMPORTED, "imported account")} with their balances, as CSV
          </a>
        ) : (
          "a manager can download all balances as CSV"
        )}
        .{states.ERASED > 0 && " Its last row is what was erased, as one amount."}
      </p>
    </>
  )
}

export const MoneySection = ({ detail }: { readonly detail: MigrationDetail }) => {
  const { IMPORTED: imported } = detail.migration.states
  return (
    <Section
      id="money"
      title="Money"
      note={
        detail.money.ties && imported === 0 ? (
          "No account is imported, so there is no money yet."
        ) : detail.money.ties ? (
          <span class="good">
            ✓ What is stored adds up: ledgers and additions come to the balances of the accounts
            exactly.
          </span>
        ) : (
          <span class="bad">
            ✗ What is stored does not add up: ledgers and additions do not come to the balances of
            the accounts. Tell your operator.
          </span>
        )
      }
    >
      <Sums sums={detail.money} supplier={detail.migration.import_supplier} />
      <Comparison detail={detail} />
    </Section>
  )
}
