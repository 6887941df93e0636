/** What a manager can do with the ticked accounts of a list, or with all of it if none is ticked. */
import { useState } from "preact/hooks"
import type { ImportRows } from "../data/Answers.ts"
import type { Filter } from "../text/ImportFilter.ts"
import { count } from "../text/Numbers.ts"
import type { Selection } from "../text/Selections.ts"
import { isOpen } from "../text/Words.ts"
import type { BatchProps } from "./BatchDialog.tsx"
import { MoveButton } from "./MoveButton.tsx"
import { ProcessButton, RetryButton } from "./ProcessButton.tsx"
import { UndoButton } from "./UndoButton.tsx"

type Row = ImportRows["imports"][number]

/** The API takes no more numbers at once. */
const mostTicked = 1_000

export interface Ticks {
  readonly numbers: ReadonlySet<string>
  readonly set: (rows: ReadonlyArray<Row>, isTicked: boolean) => void
  readonly clear: () => void
}

const none: ReadonlySet<string> = new Set()

/** They are kept while pages are turned. */
export const useTicks = (): Ticks => {
  const [numbers, setNumbers] = useState(none)
  const set = (rows: ReadonlyArray<Row>, isTicked: boolean) => {
    const those = new Set(rows.map((row) => row.external_account_number))
    const all = isTicked ? numbers.union(those) : numbers.difference(those)
    setNumbers(new Set([...all].slice(0, mostTicked)))
  }
  return { numbers, set, clear: () => setNumbers(none) }
}

/** Leaves out listed accounts that can no longer be ticked, such as those that are imported now. */
const openTicks = ({ imports }: ImportRows, { numbers }: Ticks): ReadonlySet<string> => {
  const ended = imports.filter((row) => !isOpen(row)).map((row) => row.external_account_number)
  return numbers.difference(new Set(ended))
}

export const Tick = ({ row, ticks }: { readonly row: Row; readonly ticks: Ticks }) => {
  const number = row.external_account_number
  if (!isOpen(row)) return null
  return (
    <input
      type="checkbox"
      aria-label={`Choose ${number}`}
      checked={ticks.numbers.has(number)}
      onChange={({ currentTarget }) => ticks.set([row], currentTarget.checked)}
    />
  )
}

/** The open accounts that match the filter; null if it is one that an action does not take. */
const selectionOf = (filter: Filter): Selection | null => {
  const { attr, code, cohort, corrected, search, state, without_cohort } = filter
  if ((filter.ledger ?? filter.money ?? filter.move ?? filter.first_problems) !== null) return null
  if (state !== null && state !== "PENDING" && state !== "FAILED") return null
  return {
    ...(state !== null && { state }),
    ...(code !== null && { code }),
    ...(attr !== null && { attr }),
    ...(without_cohort === null ? cohort !== null && { cohort } : { cohort: null }),
    ...(corrected !== null && { corrected: true }),
    ...(search !== null && { search })
  }
}

interface Props {
  readonly supplier: string
  readonly filter: Filter
  readonly list: ImportRows
  readonly ticks: Ticks
}

/** The accounts of a cohort that are imported, and no others, can be taken back. */
const undoneCohort = ({ cohort, state, ...others }: Filter): string | null =>
  state === "IMPORTED" && Object.values(others).every((value) => value === null) ? cohort : null

const Choosing = ({ list, ticks }: Pick<Props, "list" | "ticks">) => {
  const open = list.imports.filter(isOpen)
  const chosen = openTicks(list, ticks).size
  if (open.length === 0 && chosen === 0) return null
  return (
    <>
      {open.length > 0 && (
        <label class="check">
          <input
            type="checkbox"
            checked={open.every((row) => ticks.numbers.has(row.external_account_number))}
            onChange={({ currentTarget }) => ticks.set(open, currentTarget.checked)}
          />
          All on this page
        </label>
      )}
      {chosen > 0 && (
        <button type="button" class="plain" onClick={ticks.clear}>
          Untick {count(chosen)}
        </button>
      )}
    </>
  )
}

interface SelectionProps extends BatchProps {
  /** Whether every account of the list has failed. */
  readonly isOfFailed: boolean
  readonly isOfTicked: boolean
  /** Called once something was done with them, so that their rows may be others now. */
  readonly done: () => void
}

const SelectionActions = ({ done, isOfFailed, isOfTicked, ...props }: SelectionProps) => (
  <>
    {isOfFailed && <RetryButton {...props} onStarted={done} />}
    {(isOfTicked || !isOfFailed) && <ProcessButton {...props} onStarted={done} />}
    <MoveButton
      {...props}
      onMoved={done}
      name={props.accounts === null ? "Move all…" : `Move ${count(props.accounts)}…`}
    />
  </>
)

export const ListActions = ({ filter, list, supplier, ticks }: Props) => {
  const cohort = undoneCohort(filter)
  const ticked = openTicks(list, ticks)
  const chosen = ticked.size
  const selection = chosen > 0 ? { numbers: [...ticked] } : selectionOf(filter)
  // Without a state the list has accounts that are imported, too.
  const accounts = chosen > 0 ? chosen : filter.state === null ? null : list.total
  return (
    <div class="actions">
      <Choosing list={list} ticks={ticks} />
      {cohort !== null && (
        <UndoButton supplier={supplier} cohort={cohort} imported={list.total ?? 0} />
      )}
      {selection !== null && (
        <SelectionActions
          {...{ supplier, selection, accounts }}
          isOfFailed={filter.state === "FAILED"}
          isOfTicked={chosen > 0}
          done={ticks.clear}
        />
      )}
    </div>
  )
}
