/** The stored data of an account: masked until the user reveals it, which is audited. */
import { useState } from "preact/hooks"
import { useRequest } from "../actions/useRequest.ts"
import type { Account, Revealed } from "../data/Answers.ts"
import { useAction, useIsManager } from "../data/User.ts"
import { Failure } from "../parts/Answered.tsx"
import { FieldName } from "../parts/FieldName.tsx"
import { Section } from "../parts/Section.tsx"
import { answers } from "../routing/Paths.ts"
import { failingFields, fieldId, storedFields } from "../text/StoredFields.ts"

interface StoredProps {
  readonly stored: unknown
  readonly failing: ReadonlySet<string>
}

const Stored = ({ failing, stored }: StoredProps) => (
  <div class="scroll" role="region" aria-label="Fields that are stored" tabIndex={0}>
    <dl class="stored">
      {storedFields(stored, failing).map(({ isFailing, path, value }) => (
        <div key={path} id={fieldId(path)} class={isFailing ? "failing" : undefined}>
          <dt>
            <FieldName path={path} />
          </dt>
          <dd>
            {isFailing && "✗ "}
            {value ?? <span class="quiet">not sent</span>}
          </dd>
        </div>
      ))}
    </dl>
  </div>
)

export const StoredSection = ({ account }: { readonly account: Account }) => {
  const act = useAction()
  const isManager = useIsManager()
  const [revealed, setRevealed] = useState<Revealed | null>(null)
  const { external_account_number: number, import_supplier: supplier, stored } = account

  const revealing = useRequest(async () => {
    setRevealed((await act(answers.account(supplier, number, "reveal/"))) as Revealed)
  })
  const note =
    stored === null
      ? "What was staged is deleted."
      : revealed === null
        ? "Personal data is masked."
        : "Personal data is shown until you leave this page. The audit log has it under your name."
  return (
    <Section
      id="stored"
      title="What is stored"
      note={note}
      actions={
        stored !== null &&
        isManager &&
        (revealed === null ? (
          <button
            type="button"
            class="action"
            disabled={revealing.isSending}
            onClick={revealing.start}
          >
            Show personal data (is audited)
          </button>
        ) : (
          <button type="button" class="action" onClick={() => setRevealed(null)}>
            Mask it again
          </button>
        ))
      }
    >
      {revealing.error !== null && <Failure error={revealing.error} />}
      {stored !== null && (
        <Stored
          stored={revealed === null ? stored : revealed.stored}
          failing={failingFields(account)}
        />
      )}
    </Section>
  )
}
