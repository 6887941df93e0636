/** Enters the planned curve: how many accounts are to be imported by which day. */
import { useState } from "preact/hooks"
import type { MigrationDetail, Plan } from "../data/Answers.ts"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { parsePlan, planText } from "../text/PlanText.ts"
import { counted } from "../text/Numbers.ts"
import { isSignedOff } from "../text/Words.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"

const PlanDialog = ({ close, detail }: { detail: MigrationDetail; close: () => void }) => {
  const act = useAction()
  const { import_supplier: supplier } = detail.migration
  const [text, setText] = useState(planText(detail.plan))
  const { plan, problem } = parsePlan(text)
  const run = async () => {
    const stored = (await act(answers.of(supplier, "plan/"), plan)) as Plan
    return <p>The plan has {counted(stored.points.length, "point")} now.</p>
  }
  return (
    <ActionDialog
      title={`Plan of ${supplier}`}
      confirm="Save the plan"
      isReady={problem === null}
      run={run}
      close={close}
    >
      <p>
        One line for each day that is planned: the date, and how many accounts are to be imported by
        its end ({detail.migration.time_zone}). No lines: no plan. It changes no account, and can be
        changed again.
      </p>
      <label class="field">
        <span>Plan</span>
        <textarea
          rows={8}
          spellcheck={false}
          placeholder={"2026-12-01 10000\n2026-12-15 95000"}
          value={text}
          aria-describedby="plan-problem"
          aria-invalid={problem !== null}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <p id="plan-problem" class={problem === null ? "quiet" : "bad"} role="status">
        {problem ?? counted(plan.points.length, "point")}
      </p>
    </ActionDialog>
  )
}

export const PlanButton = ({ detail }: { readonly detail: MigrationDetail }) => (
  <ActionButton
    name={detail.plan === null ? "Enter a plan…" : "Change the plan…"}
    isIdle={isSignedOff(detail.migration)}
    dialog={(close) => <PlanDialog detail={detail} close={close} />}
  />
)
