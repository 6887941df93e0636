/** One account: its life from the first staging to the last change, and why it failed. */
import { DocumentButton } from "../actions/DocumentButton.tsx"
import { MoveButton } from "../actions/MoveButton.tsx"
import { ProcessButton } from "../actions/ProcessButton.tsx"
import type { Account } from "../data/Answers.ts"
import { useNow } from "../data/Now.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { AuditTable } from "../parts/AuditTable.tsx"
import { Fact } from "../parts/Fact.tsx"
import { Headline } from "../parts/Headline.tsx"
import { NotForSupplier } from "../parts/NotForSupplier.tsx"
import { Section } from "../parts/Section.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { ofAccount } from "../text/Headlines.ts"
import { count, counted, money } from "../text/Numbers.ts"
import { isOpen, stateWord } from "../text/Words.ts"
import { CommentsSection } from "./CommentsSection.tsx"
import { EarlierSection } from "./EarlierSection.tsx"
import { keyOf, LifeSection } from "./LifeSection.tsx"
import { StoredSection } from "./StoredSection.tsx"

/** What can be added after the import, and the audit actions that record it. */
const additions = [
  ["transactions", "transaction", "create_transactions"],
  ["notes", "note", "create_notes"],
  ["statements", "statement", "create_historical_statements"],
  ["payment_instructions", "payment instruction", "create_payment_instruction"]
] as const

/** Until when the account can be reverted. */
const Revertible = ({ until }: { readonly until: string | null }) => {
  const now = useNow()
  if (until === null) return <>no: the migration is signed off</>
  return (
    <>
      {Date.parse(until) > now ? "yes, the window closes" : "no, the window closed"}{" "}
      <Time at={until} />
    </>
  )
}

const Facts = ({ account }: { readonly account: Account }) => {
  const { added, balance, cohort, import_supplier: supplier } = account
  return (
    <dl class="facts">
      <Fact name="State">{stateWord(account.state)}</Fact>
      <Fact name="New number">{account.kraken_account_number ?? "–"}</Fact>
      <Fact name="Cohort">
        {cohort === null ? "–" : <Link to={pages.imports(supplier, { cohort })}>{cohort}</Link>}
      </Fact>
      <Fact name="Balance">
        {balance === null ? "–" : <Link to="#stored">{money(balance)}</Link>}
      </Fact>
      {account.state === "IMPORTED" && (
        <Fact name="Can be reverted">
          <Revertible until={account.revert_until} />
        </Fact>
      )}
      <Fact name="Added later">
        {additions.map(([name, one, action], index) => (
          <span key={name}>
            {index > 0 && ", "}
            <Link to={pages.audit({ ...keyOf(account), action })}>{counted(added[name], one)}</Link>
          </span>
        ))}
      </Fact>
    </dl>
  )
}

const Documents = ({ account }: { readonly account: Account }) => (
  <Section
    id="documents"
    title="Documents"
    note={
      account.documents.length === 0 ? (
        "The account has none."
      ) : (
        <NotForSupplier>
          A link ends after a few minutes. Asking for one is in the audit log. Whole paths are in
          what is stored, once personal data is shown there.
        </NotForSupplier>
      )
    }
  >
    <ul class="documents">
      {account.documents.map(({ document_path: path, size }, place) => (
        <li key={place}>
          <span class="code">{path}</span>{" "}
          <small class="size">{size === null ? "not looked at" : counted(size, "byte")}</small>{" "}
          <DocumentButton
            supplier={account.import_supplier}
            number={account.external_account_number}
            path={path}
            place={place}
          />
        </li>
      ))}
    </ul>
  </Section>
)

interface AuditProps {
  readonly account: Account
  readonly seal: NonNullable<Account["audit_seal"]>
}

const Seal = ({ account, seal: { broken_at, entries, holds } }: AuditProps) => {
  const all = pages.audit(keyOf(account))
  return holds ? (
    <span class="good">
      ✓ As it was sealed:{" "}
      <Link to={all}>{counted(entries, "entry is", "entries are")} as they were written</Link>.
    </span>
  ) : (
    <span class="bad">
      ✗ <Link to={all}>Entry {broken_at}</Link> is not as it was written. Tell your operator.
    </span>
  )
}

const AuditSection = ({ account, seal }: AuditProps) => (
  <Section id="audit" class="wide" title="Audit" note={<Seal account={account} seal={seal} />}>
    <AuditTable entries={account.audit} />
    {account.audit.length < seal.entries && (
      <Link to={pages.audit(keyOf(account))}>All {count(seal.entries)} entries</Link>
    )}
  </Section>
)

/** An account that waits or has failed can be tried alone. */
const Actions = ({ account }: { readonly account: Account }) => {
  if (!isOpen(account)) return null
  const of = {
    supplier: account.import_supplier,
    selection: { numbers: [account.external_account_number] },
    accounts: 1
  }
  return (
    <div class="actions">
      <ProcessButton {...of} isBrief />
      <MoveButton {...of} name="Move…" />
    </div>
  )
}

const Body = ({ account }: { readonly account: Account }) => (
  <>
    <Facts account={account} />
    <Actions account={account} />
    <div class="sections">
      <LifeSection account={account} />
      <StoredSection account={account} />
      <EarlierSection account={account} />
      <Documents account={account} />
      <CommentsSection
        supplier={account.import_supplier}
        number={account.external_account_number}
      />
      {account.audit_seal !== null && <AuditSection account={account} seal={account.audit_seal} />}
    </div>
  </>
)

interface Props {
  readonly supplier: string
  readonly number: string
}

/** Shown without an account: its line may have been refused before it was staged. */
const Missing = ({ number, supplier }: Props) => (
  <p class="empty">
    No account <span class="code">{number}</span> is stored. A line that is refused before it is
    staged leaves none: what is wrong with it is on the page of{" "}
    <Link to={`${pages.migration(supplier)}#batches`}>its batch</Link>. If there should be one, ask
    whoever gives access to the board.
  </p>
)

export const AccountPage = ({ number, supplier }: Props) => {
  const answer = useAnswer<Account>(answers.account(supplier, number))
  return (
    <>
      <Headline title={`One account of ${supplier}`}>
        {answer.value === undefined ? number : ofAccount(answer.value)}
      </Headline>
      <Answered
        answer={answer}
        lines={12}
        missing={<Missing supplier={supplier} number={number} />}
      >
        {(account) => <Body account={account} />}
      </Answered>
    </>
  )
}
