/** Enters what is expected of a migration, or of a cohort of it. */
import { useState } from "preact/hooks"
import type { ControlTotalsList, MigrationDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { arrivedText, parseTotals, type TypedTotals, typedOf } from "../text/ControlTotals.ts"
import { isSignedOff } from "../text/Words.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { CohortField } from "./CohortField.tsx"

const path = (supplier: string) => answers.of(supplier, "control-totals/")

const labels = { accounts: "Accounts", balance: "Balance as imported (empty: not compared)" }

/** What is entered of a cohort or of the whole; the sums of cohorts are not. */
const useTotals = (supplier: string, cohort: string | null) => {
  const { value } = useAnswer<ControlTotalsList>(path(supplier))
  const present = value?.totals.find((each) => each.cohort === cohort)
  const isSum = cohort === null && value?.whole_is_sum === true
  return { arrived: present?.arrived, entered: isSum ? null : (present?.expected ?? null) }
}

const TotalsDialog = ({ close, supplier }: { supplier: string; close: () => void }) => {
  const act = useAction()
  const [named, setNamed] = useState("")
  const cohort = named.trim() === "" ? null : named.trim()
  const { arrived, entered } = useTotals(supplier, cohort)
  // What is stored of a cohort fills only the fields that nobody has touched.
  const [changed, setChanged] = useState<Partial<TypedTotals>>({})
  const typed = { ...typedOf(entered), ...changed }
  const change = (part: Partial<TypedTotals>) => setChanged({ ...changed, ...part })
  const parsed = parseTotals(typed)
  const isNothing = parsed.expected === undefined && entered === null
  const run = async () => {
    const { expected } = parsed
    await act(path(supplier), { cohort, ...(expected !== undefined && { expected }) })
    return (
      <p>{expected === undefined ? "Nothing is expected now." : "It is compared from now on."}</p>
    )
  }
  return (
    <ActionDialog
      title={`Control totals of ${supplier}`}
      confirm="Save the control totals"
      isReady={parsed.problem === null && !isNothing}
      run={run}
      close={close}
    >
      <p>
        What the supplier expects to arrive. It changes no account, and can be changed again. A
        cohort may be named before any account is in it. Empty fields: nothing is expected.
      </p>
      <CohortField
        supplier={supplier}
        name="Cohort (empty for the whole migration)"
        value={named}
        change={setNamed}
      />
      {(["accounts", "balance"] as const).map((name) => (
        <label class="field" key={name}>
          <span>{labels[name]}</span>
          <input
            type="text"
            value={typed[name]}
            autocomplete="off"
            onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
          />
        </label>
      ))}
      <label class="field">
        <span>Balances by ledger (empty: not compared)</span>
        <textarea
          rows={4}
          spellcheck={false}
          placeholder={"ELECTRICITY_LEDGER -981.10\nGAS_LEDGER -223.26"}
          value={typed.ledgers}
          aria-describedby="totals-problem"
          aria-invalid={parsed.problem !== null}
          onInput={({ currentTarget }) => change({ ledgers: currentTarget.value })}
        />
      </label>
      <p id="totals-problem" class={parsed.problem === null ? "quiet" : "bad"} role="status">
        {arrivedText(parsed, arrived?.accounts)}
      </p>
    </ActionDialog>
  )
}

export const ControlTotalsButton = ({ detail }: { readonly detail: MigrationDetail }) => (
  <ActionButton
    name="Enter control totals…"
    isIdle={isSignedOff(detail.migration)}
    dialog={(close) => <TotalsDialog supplier={detail.migration.import_supplier} close={close} />}
  />
)
