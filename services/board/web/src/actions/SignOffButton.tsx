/** Signs a migration off: it is complete, and accepts no more accounts. Confirmed by typing. */
import { useState } from "preact/hooks"
import type { Migration, SignOff } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { useAction } from "../data/User.ts"
import { Answered } from "../parts/Answered.tsx"
import { hashInWords } from "@data-import/domain/certificates/CertificateFigures"
import { Time } from "../parts/Time.tsx"
import { SummaryLinks } from "../parts/SummaryLinks.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { coverOf, outdated } from "../text/Certificates.ts"
import { openOthers, openWord } from "../text/Comments.ts"
import { count, counted } from "../text/Numbers.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { SignedTotals, SignedWaves } from "./SignOffFacts.tsx"
import { TextArea } from "./TextArea.tsx"

type Open = SignOff["open"][number]
type Attached = NonNullable<SignOff["certificate"]>

const OpenItem = ({ open, supplier }: { open: Open; supplier: string }) => {
  const [, part] = openOthers[open.what] ?? []
  const to =
    part === undefined
      ? pages.imports(supplier, { state: open.what })
      : `${pages.migration(supplier)}#${part}`
  const word = openWord(open)
  return (
    <li>
      {open.what === "NOTHING_STAGED" ? (
        `${word}.`
      ) : (
        <>
          {word}: <Link to={to}>{count(open.count)}</Link>
        </>
      )}
    </li>
  )
}

interface OfSignOff {
  readonly migration: Migration
  readonly signOff: SignOff
}

const Money = ({ migration, signOff }: OfSignOff) => {
  const { import_supplier: supplier, states } = migration
  const ties = signOff.open.every(({ what }) => what !== "MONEY")
  if (ties && states.IMPORTED === 0) return <p>No account is imported, so there is no money.</p>
  return (
    <p>
      <Link to={`${pages.migration(supplier)}#money`} class={ties ? "good" : "bad"}>
        {ties ? "✓ The money adds up." : "✗ The money does not add up."}
      </Link>
    </p>
  )
}

/** Why the certificate does not show what is signed off. */
const gapOf = ({ cohort, is_changed }: Attached): string => {
  if (is_changed) return outdated
  return cohort === null ? "" : "It is of this cohort only."
}

/** The certificate that is attached. A sign-off without one says so. */
const Certified = ({ migration, signOff }: OfSignOff) => {
  const { import_supplier: supplier } = migration
  const { certificate } = signOff
  if (certificate === null) {
    return (
      <p class="bad">
        ✗ This sign-off has no certificate: none is issued.{" "}
        <Link to={pages.certificates(supplier)}>Issue one first</Link>, so that others can check
        what was moved.
      </p>
    )
  }
  const { certificate_id: id, root, tree_size } = certificate
  const gap = gapOf(certificate)
  return (
    <p>
      It has the certificate{" "}
      <Link to={pages.certificate(supplier, id)} class="code">
        {id.slice(0, 8)}
      </Link>{" "}
      of {coverOf(certificate)}: {counted(tree_size, "account")} as of <Time at={certificate.at} />.
      {gap !== "" && <strong class="bad"> ✗ {gap}</strong>}
      {root !== null && (
        <>
          {" "}
          Root: <span class="code words">{hashInWords(root)}</span>
        </>
      )}
    </p>
  )
}

/** What is still open, and where the summary can be downloaded. */
const OpenList = ({ migration, signOff }: OfSignOff) => (
  <>
    {signOff.open.length === 0 ? (
      <p class="good">✓ Nothing is open.</p>
    ) : (
      <>
        <p>These are open:</p>
        <ul>
          {signOff.open.map((open) => (
            <OpenItem key={open.what} open={open} supplier={migration.import_supplier} />
          ))}
        </ul>
      </>
    )}
    <Money signOff={signOff} migration={migration} />
    <p>
      <SummaryLinks supplier={migration.import_supplier} />
    </p>
  </>
)

interface AcceptingProps {
  readonly accepts: boolean
  readonly setAccepts: (accepts: boolean) => void
  readonly reason: string
  readonly setReason: (reason: string) => void
}

/** What is left open is accepted on purpose, for a reason that stays in sight. */
const Accepting = (props: AcceptingProps) => (
  <>
    <label class="check">
      <input
        type="checkbox"
        checked={props.accepts}
        onChange={({ currentTarget }) => props.setAccepts(currentTarget.checked)}
      />
      Sign off although this is open
    </label>
    <p class="quiet">Write no personal data: the reason is kept.</p>
    <TextArea label="Reason (stays in sight)" value={props.reason} change={props.setReason} />
  </>
)

const SignOffDialog = ({ close, migration }: { migration: Migration; close: () => void }) => {
  const act = useAction()
  const { import_supplier: supplier } = migration
  const answer = useAnswer<SignOff>(answers.of(supplier, "sign-off/"))
  const [accepts, setAccepts] = useState(false)
  const [reason, setReason] = useState("")
  const open = answer.value?.open.length ?? 0
  const run = async () => {
    await act(answers.of(supplier, "sign-off/"), {
      import_supplier: supplier,
      accept_open: accepts,
      reason: open === 0 ? null : reason.trim(),
      certificate_id: answer.value?.certificate?.certificate_id ?? null
    })
    const without = answer.value?.certificate ? "" : ", without a certificate"
    return (
      <p>
        {supplier} is signed off{without}. The audit log has it under your name.
      </p>
    )
  }
  return (
    <ActionDialog
      title={`Sign ${supplier} off`}
      confirm={`Sign ${supplier} off`}
      typed={supplier}
      isReady={answer.value !== undefined && (open === 0 || (accepts && reason.trim() !== ""))}
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
            <OpenList signOff={signOff} migration={migration} />
            <SignedTotals supplier={supplier} />
            <SignedWaves supplier={supplier} />
            <Certified signOff={signOff} migration={migration} />
            {signOff.open.length > 0 && (
              <Accepting {...{ accepts, setAccepts, reason, setReason }} />
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
