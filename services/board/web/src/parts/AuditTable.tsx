/** Entries of the audit log, the newest first. */
import type { AuditEntry, Comment } from "../data/Answers.ts"
import { Link } from "../routing/Location.tsx"
import { pages } from "../routing/Paths.ts"
import { actionWord } from "../text/AuditWords.ts"
import { deedText } from "../text/Comments.ts"
import { movedText } from "../text/Moves.ts"
import { type Column, Table } from "./Table.tsx"
import { Time } from "./Time.tsx"
import { Who } from "./Who.tsx"

const About = ({ entry }: { readonly entry: AuditEntry }) => {
  const { external_account_number: number, import_supplier: supplier, organisation } = entry
  if (supplier === null) return <>{organisation}</>
  return (
    <>
      <Link to={pages.migration(supplier)}>{supplier}</Link>
      {number !== null && (
        <>
          {" "}
          <Link to={pages.account(supplier, number)}>{number}</Link>
        </>
      )}
    </>
  )
}

const Commented = ({ comment }: { readonly comment: Comment }) => (
  <span class="said">
    {[deedText(comment), comment.text ?? "erased with the account"].filter(Boolean).join(". ")}
  </span>
)

/** A move opens the list of its accounts, and a comment says its text. */
const Outcome = ({ entry }: { readonly entry: AuditEntry }) => {
  const { comment, import_supplier: supplier, move, outcome } = entry
  if (comment !== null) return <Commented comment={comment} />
  if (move === null || supplier === null) return <>{outcome}</>
  return <Link to={pages.imports(supplier, { move: move.move_id })}>{movedText(move)}</Link>
}

const columnsFor = (isOfAll: boolean): ReadonlyArray<Column<AuditEntry>> => [
  { name: "When", isHead: true, cell: ({ at }) => <Time at={at} /> },
  {
    name: "Who",
    cell: ({ who }) => <Who who={who} />
  },
  {
    name: "Action",
    cell: (entry) => (
      <>
        <Link to={pages.audit({ action: entry.action })} class="code">
          {entry.action}
        </Link>{" "}
        <small>{actionWord(entry)}</small>
      </>
    )
  },
  { name: "Outcome", class: "code", cell: (entry) => <Outcome entry={entry} /> },
  ...(isOfAll
    ? [{ name: "About", class: "code", cell: (entry: AuditEntry) => <About entry={entry} /> }]
    : []),
  { name: "Request", class: "code id", cell: ({ request_id }) => request_id }
]

interface Props {
  readonly entries: ReadonlyArray<AuditEntry>
  readonly isOfAll?: boolean
}

export const AuditTable = ({ entries, isOfAll = false }: Props) => (
  <Table
    caption="Entries of the audit log, the newest first"
    columns={columnsFor(isOfAll)}
    rows={entries}
    keyOf={({ id }) => id}
  />
)
