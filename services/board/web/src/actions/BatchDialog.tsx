/**
 * Starts a batch over selected accounts: an import, a retry of failed ones, or a rehearsal of
 * either. It says first how many there are, and what has changed since they failed.
 */
import { personName } from "@data-import/domain/access/PersonName"
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import type { ProcessPreview } from "../data/Answers.ts"
import { useAction } from "../data/User.ts"
import { Failure } from "../parts/Answered.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { count, counted, verb } from "../text/Numbers.ts"
import { countedSelection, isOfAll, type Selection } from "../text/Selections.ts"
import { ActionDialog } from "./ActionDialog.tsx"
import { TeamField, useTeams } from "./TeamField.tsx"
import { usePreview } from "./usePreview.ts"

export type BatchKind = keyof typeof verbs

export const verbs = { process: "Import", rehearse: "Rehearse", retry: "Retry" } as const

export interface BatchProps {
  readonly supplier: string
  readonly selection: Selection
  /** How many there are, if the page knows it. */
  readonly accounts: number | null
  /** Called once a batch that imports has started. */
  readonly onStarted?: (() => void) | undefined
}

interface Props extends BatchProps {
  readonly kind: BatchKind
  readonly children?: ComponentChildren
  readonly close: () => void
}

interface Started {
  readonly lines: number
}

const what = {
  rehearse:
    "tried by a batch that imports nothing. Its page shows what an import would create, what " +
    "would fail and why, and how long it would take.",
  process:
    "imported by a batch. The batch can be paused. For some time imported accounts can be " +
    "reverted: undo their cohort."
}

const WhatItDoes = ({
  kind,
  selection,
  supplier
}: Pick<Props, "kind" | "selection" | "supplier">) => {
  if (kind !== "retry") {
    const all = isOfAll(selection) ? "All of them, of every cohort and of none," : "They"
    return (
      <p>
        {all} are {what[kind]}
      </p>
    )
  }
  return (
    <p>
      They are tried again as they are. That helps when the cause was outside of the data. What
      fails again stays failed. What the supplier has staged again is not among them: that is{" "}
      <Link to={pages.imports(supplier, { corrected: "true" })}>corrected</Link>, and pending. For
      some time imported accounts can be reverted: undo their cohort.
    </p>
  )
}

/** A day that has passed may be the only reason why an account is imported now. */
const ByDay = ({ preview }: { readonly preview: ProcessPreview | undefined }) => {
  if (preview === undefined || preview.failed_by_day.accounts === 0) return null
  const { business_day: day, failed_by_day: failed } = preview
  const { accounts, codes } = failed
  return (
    <p class="note">
      {count(accounts)} of them failed on another day by {verb(codes.length, "a rule", "rules")}{" "}
      about the day ({codes.join(", ")}). The day is now {day}, so{" "}
      {verb(accounts, "it may pass although it is", "they may pass although they are")} unchanged.
    </p>
  )
}

/** Another person may have started the same a moment ago. */
const Running = ({ preview, supplier }: { preview: ProcessPreview; supplier: string }) => (
  <div class="note">
    {preview.running.map(({ batch_id: id, by, lines_remaining: left, name }) => (
      <p key={id}>
        <Link to={pages.batch(supplier, id)}>{name ?? id.slice(0, 8)}</Link>, which{" "}
        {by === null ? "somebody" : personName(by)} has started, imports accounts of this migration
        now: {counted(left, "line")} to do.
      </p>
    ))}
    {preview.running.length > 0 && (
      <p>What is in both is tried by both. No account is created twice.</p>
    )}
  </div>
)

const RehearsalStarted = ({ id, lines, supplier }: { id: string; supplier: string } & Started) => (
  <p>
    A rehearsal of {counted(lines, "account")} has started.{" "}
    <Link to={pages.batch(supplier, id)}>Its page</Link> shows what the import would do.
  </p>
)

const BatchStarted = ({ id, lines, supplier }: { id: string; supplier: string } & Started) => (
  <p>
    A batch of {counted(lines, "account")} has started.{" "}
    <Link to={pages.batch(supplier, id)}>Its page</Link> shows its progress, and so does{" "}
    <Link to={`${pages.migration(supplier)}#batches`}>Batches</Link>. It can be paused in both.
  </p>
)

export const BatchDialog = (props: Props) => {
  const { accounts, children, close, kind, onStarted, selection, supplier } = props
  const act = useAction()
  const teams = useTeams()
  const [chosen, setTeam] = useState("")
  const team = chosen === "" ? (teams[0] ?? "") : chosen
  const [isTried, setTried] = useState(false)
  const shown = isTried ? "rehearse" : kind
  const preview = usePreview(supplier, selection)
  const known = preview.value?.accounts ?? accounts
  // The same id makes a retry after a lost answer idempotent: it starts no second batch.
  const [id] = useState(() => crypto.randomUUID())
  const run = async () => {
    const isRehearsal = shown === "rehearse"
    const body = { batch_id: id, selection, operations_team_name: team }
    const sent = { ...body, ...(isRehearsal && { dry_run: true }) }
    const { lines } = (await act(answers.of(supplier, "process/"), sent)) as Started
    if (!isRehearsal) onStarted?.()
    const Told = isRehearsal ? RehearsalStarted : BatchStarted
    return <Told id={id} lines={lines} supplier={supplier} />
  }
  return (
    <ActionDialog
      title={`${verbs[shown]} ${countedSelection(selection, known)}`}
      confirm={known === null ? "Counting…" : `${verbs[shown]} ${counted(known, "account")}`}
      isReady={team !== "" && known !== null && known > 0}
      run={run}
      close={close}
    >
      {children}
      <WhatItDoes kind={shown} selection={selection} supplier={supplier} />
      <ByDay preview={preview.value} />
      {preview.value !== undefined && shown !== "rehearse" && (
        <Running preview={preview.value} supplier={supplier} />
      )}
      {preview.error !== undefined && <Failure error={preview.error} />}
      {kind !== "rehearse" && (
        <label class="check">
          <input
            type="checkbox"
            checked={isTried}
            onChange={({ currentTarget }) => setTried(currentTarget.checked)}
          />
          Only rehearse: import nothing
        </label>
      )}
      <TeamField value={team} change={setTeam} />
    </ActionDialog>
  )
}
