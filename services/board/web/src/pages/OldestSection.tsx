/** The accounts that have waited longest, and what each of them waits for. */
import type { MigrationDetail } from "../data/Answers.ts"
import { StartButton } from "../actions/ProcessButton.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { pages } from "../routing/Paths.ts"

type Open = MigrationDetail["oldest_open"][number]

const columnsFor = ({ migration }: MigrationDetail): ReadonlyArray<Column<Open>> => [
  {
    name: "Account",
    isHead: true,
    class: "code",
    cell: ({ external_account_number: number }) => (
      <Link to={pages.account(migration.import_supplier, number)}>{number}</Link>
    )
  },
  { name: "Since", cell: ({ since }) => <Time at={since} zone={migration.time_zone} /> },
  {
    name: "Waits for",
    cell: ({ code, waits_for }) => (
      <>
        {waits_for}{" "}
        {code !== null && (
          <Link
            to={pages.imports(migration.import_supplier, { state: "FAILED", code })}
            class="code"
          >
            {code}
          </Link>
        )}
      </>
    )
  },
  {
    name: "Action",
    isNameHidden: true,
    class: "act",
    cell: ({ external_account_number: number }) => (
      <StartButton
        supplier={migration.import_supplier}
        kind="process"
        selection={{ numbers: [number] }}
        accounts={1}
        isBrief
      />
    )
  }
]

export const OldestSection = ({ detail }: { readonly detail: MigrationDetail }) => (
  <Section
    id="oldest"
    title="Waiting longest"
    note={
      detail.oldest_open.length === 0
        ? "No account waits."
        : "Pending accounts since they were staged, and failed ones a day after their last attempt."
    }
  >
    {detail.oldest_open.length > 0 && (
      <Table
        caption="The open accounts that have waited longest"
        columns={columnsFor(detail)}
        rows={detail.oldest_open}
        keyOf={({ external_account_number }) => external_account_number}
      />
    )}
  </Section>
)
