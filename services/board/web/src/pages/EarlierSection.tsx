/** The accounts that an import had before: each was reverted. Shown if there are any. */
import type { Account } from "../data/Answers.ts"
import { useIsSupplier } from "../data/User.ts"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { Who } from "../parts/Who.tsx"

type Reverted = Account["reverted"][number]

const unknown = <span class="quiet">–</span>

const columns: ReadonlyArray<Column<Reverted>> = [
  { name: "Number", isHead: true, class: "code", cell: (account) => account.kraken_account_number },
  { name: "Imported", cell: ({ account_created_at }) => <Time at={account_created_at} /> },
  { name: "Reverted", cell: ({ reverted_at }) => <Time at={reverted_at} /> }
]

const reasons: ReadonlyArray<Column<Reverted>> = [
  {
    name: "By",
    cell: ({ reverted_by: who }) => (who === null ? unknown : <Who who={who} />)
  },
  { name: "Reason", class: "explained", cell: ({ reason }) => reason ?? unknown }
]

export const EarlierSection = ({ account: { reverted } }: { readonly account: Account }) => {
  const isSupplier = useIsSupplier()
  if (reverted.length === 0) return null
  return (
    <Section
      id="earlier"
      class="wide"
      title="Earlier accounts"
      note="They were reverted, and count nowhere any more. The newest first."
    >
      <Table
        caption="Earlier accounts of the import, the newest first"
        columns={isSupplier ? columns : [...columns, ...reasons]}
        rows={reverted}
        keyOf={({ kraken_account_number }) => kraken_account_number}
      />
    </Section>
  )
}
