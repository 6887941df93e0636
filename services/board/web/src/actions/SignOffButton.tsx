/** Signs a migration off: it is complete, and accepts no more accounts. Confirmed by typing. */
import { useState } from "preact/hooks"
import type { Migration, SignOff } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { useAction } from "../data/User.ts"
import { Answered } from "../parts/Answered.tsx"
import { SummaryLinks } from "../parts/SummaryLinks.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { count } from "../text/Numbers.ts"
import { stateWord } from "../text/Words.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"

type Open = SignOff["open"][number]

/** Open items other than account states: their names, and the section of the page to see them. */
const others: Readonly<Record<string, readonly [word: string, part: string]>> = {
  LINES_FAILED: ["Lines of batches that failed", "batches"],
  LINES_REMAINING: ["Lines of batches to do", "batches"],
  LINES_REFUSED: ["Lines of ended batches that were refused", "batches"],
  ACCOUNTS_MISSING: ["Accounts of the plan that were never received", "progress"],
  BATCHES: ["Batches that have not ended", "batches"],
  MONEY: ["Sums of money that do not add up", "money"]
}

const OpenItem = ({ open, supplier }: { open: Open; supplier: string }) => {
  const [word, part] = others[open.what] ?? [`Accounts: ${stateWord(open.what)}`]
  const to =
    part === undefined
      ? pages.imports(supplier, { state: open.what })
      : `${pages.migration(supplier)}#${part}`
  return (
    <li>
      {word}: <Link to={to}>{count(open.count)}</Link>
    </li>
  )
}

const Money = ({ signOff, supplier }: { signOff: SignOff; supplier: string }) => {
  const ties = signOff.open.every(({ what }) => what !== "MONEY")
  return (
    <p>
      <Link to={`${pages.migration(supplier)}#money`} class={ties ? "good" : "bad"}>
        {ties ? "✓ The money adds up." : "✗ The money does not add up."}
      </Link>
    </p>
  )
}

/** What is still open, and where the summary can be downloaded. */
const OpenList = ({ signOff, supplier }: { signOff: SignOff; supplier: string }) => (
  <>
    {signOff.open.length === 0 ? (
      <p class="good">✓ Nothing is open.</p>
    ) : (
      <>
        <p>These are open:</p>
        <ul>
          {signOff.open.map((open) => (
            <OpenItem key={open.what} open={open} supplier={supplier} />
          ))}
        </ul>
      </>
    )}
    <Money signOff={signOff} supplier={supplier} />
    <p>
      <SummaryLinks supplier={supplier} />
    </p>
  </>
)

const SignOffDialog = ({ close, migration }: { migration: Migration; close: () => void }) => {
  const act = useAction()
  const { import_supplier: supplier } = migration
  const answer = useAnswer<SignOff>(answers.of(supplier, "sign-off/"))
  const [accepts, setAccepts] = useState(false)
  const open = answer.value?.open.length ?? 0
  const run = async () => {
    await act(answers.of(supplier, "sign-off/"), {
      import_supplier: supplier,
      accept_open: accepts
    })
    return <p>{supplier} is signed off. The audit log has it under your name.</p>
  }
  return (
    <ActionDialog
      title={`Sign ${supplier} off`}
      confirm={`Sign ${supplier} off`}
      typed={supplier}
      isReady={answer.value !== undefined && (open === 0 || accepts)}
      run={run}
      close={close}
    >
      <p>
        Signing off ends the migration: {supplier} then refuses every further account and
        correction. The board cannot undo this; your operator can reopen it.
      </p>
      <Answered answer={answer} lines={2}>
        {(signOff) => (
          <>
            <OpenList signOff={signOff} supplier={supplier} />
            {signOff.open.length > 0 && (
              <label class="check">
                <input
                  type="checkbox"
                  checked={accepts}
                  onChange={({ currentTarget }) => setAccepts(currentTarget.checked)}
                />
                Sign off although this is open
              </label>
            )}
          </>
        )}
      </Answered>
    </ActionDialog>
  )
}

export const SignOffButton = ({ migration }: { readonly migration: Migration }) =>
  migration.status === "Complete" ? null : (
    <ActionButton
      name="Sign off…"
      dialog={(close) => <SignOffDialog migration={migration} close={close} />}
    />
  )
