/** Starts a batch over selected accounts: a retry of failed ones, a first attempt, or a rehearsal. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { useAction } from "../data/User.ts"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { counted } from "../text/Numbers.ts"
import { ActionDialog } from "./ActionDialog.tsx"
import { TeamField, useTeams } from "./TeamField.tsx"

interface Props {
  readonly supplier: string
  readonly kind: "process" | "rehearse" | "retry"
  readonly selection: Readonly<Record<string, string>>
  readonly title: string
  readonly confirm: string
  readonly children: ComponentChildren
  readonly close: () => void
}

interface Started {
  readonly lines: number
}

export const BatchDialog = (props: Props) => {
  const { children, close, confirm, kind, selection, supplier, title } = props
  const act = useAction()
  const teams = useTeams()
  const [chosen, setTeam] = useState("")
  const team = chosen === "" ? (teams[0] ?? "") : chosen
  // The same id makes a retry after a lost answer idempotent: it starts no second batch.
  const [id] = useState(() => crypto.randomUUID())
  const run = async () => {
    const isRehearsal = kind === "rehearse"
    const path = answers.of(supplier, isRehearsal ? "process/" : `${kind}/`)
    const body = { batch_id: id, selection, operations_team_name: team }
    const sent = { ...body, ...(isRehearsal && { dry_run: true }) }
    const { lines } = (await act(path, sent)) as Started
    if (isRehearsal) {
      return (
        <p>
          A rehearsal of {counted(lines, "account")} has started.{" "}
          <Link to={pages.batch(supplier, id)}>Its page</Link> shows what the import would do.
        </p>
      )
    }
    return (
      <p>
        A batch of {counted(lines, "account")} has started.{" "}
        <Link to={pages.batch(supplier, id)}>Its page</Link> shows its progress, and so does{" "}
        <Link to={`${pages.migration(supplier)}#batches`}>Batches</Link>. It can be paused in both.
      </p>
    )
  }
  return (
    <ActionDialog title={title} confirm={confirm} isReady={team !== ""} run={run} close={close}>
      {children}
      <TeamField value={team} change={setTeam} />
    </ActionDialog>
  )
}
