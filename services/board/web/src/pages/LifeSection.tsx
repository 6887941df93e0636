/** The life of an account, from its first staging to its last change. */
import type { Account, AuditEntry } from "../data/Answers.ts"
import { FieldName } from "../parts/FieldName.tsx"
import { ErrorText } from "../parts/Problem.tsx"
import { Section } from "../parts/Section.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { pages } from "../routing/Paths.ts"
import { actionWord, type LifeEvent, lifeOf } from "../text/AuditWords.ts"
import { cohortName } from "../text/Moves.ts"
import { count } from "../text/Numbers.ts"
import { failingFields, fieldId } from "../text/StoredFields.ts"
import { plain } from "../text/Words.ts"
import { Who } from "../parts/Who.tsx"

/** The fields that identify the account in the audit log. */
export const keyOf = ({ external_account_number, import_supplier }: Account) => ({
  import_supplier,
  external_account_number
})

type Attempt = Account["attempts"][number]

/** Nothing was corrected, so without a word nobody would know why it passed. */
const ByDay = ({ attempt }: { readonly attempt: Attempt }) => {
  const { outcome, passed_by_day: byDay } = attempt
  if (byDay === null) return null
  return (
    <small>
      {outcome === "CREATED" ? "Imported" : "It passed"} on <time>{byDay.business_day}</time>{" "}
      although it failed on <time>{byDay.failed_on}</time>, unchanged: the rule depends on the day.
      {!byDay.alone && " The rules or the configuration have changed since, too."}
    </small>
  )
}

interface AttemptProps {
  readonly attempt: Attempt
  /** The fields that the page marks. */
  readonly failing: ReadonlySet<string>
}

const AttemptItem = ({ attempt, failing }: AttemptProps) => (
  <li class={attempt.outcome === "FAILED" ? "failed" : ""}>
    <p>
      <Time at={attempt.started_at} /> {attempt.dry_run ? "Trial run" : "Attempt"}:{" "}
      <span class="code">{attempt.code ?? attempt.outcome}</span>
      {attempt.meaning !== null && ` – ${plain(attempt.meaning)}`} <ByDay attempt={attempt} />
    </p>
    {attempt.errors.length > 0 && (
      <ul class="examples">
        {attempt.errors.map(({ attr, code, ...text }) => (
          <li key={`${attr} ${code}`}>
            {failing.has(attr) ? (
              <a href={`#${fieldId(attr)}`}>
                <FieldName path={attr} />
              </a>
            ) : (
              <FieldName path={attr} />
            )}{" "}
            <span class="code">{code}</span> <ErrorText {...text} />
          </li>
        ))}
      </ul>
    )}
  </li>
)

const Entry = ({ entry }: { readonly entry: AuditEntry }) => (
  <li class={entry.failed ? "failed" : ""}>
    <p>
      <Time at={entry.at} /> {actionWord(entry)}: <span class="code">{entry.outcome}</span>{" "}
      <small>
        by <Who who={entry.who} />
      </small>
    </p>
  </li>
)

const RevertedItem = ({ account }: { readonly account: Account["reverted"][number] }) => (
  <li>
    <p>
      <Time at={account.reverted_at} /> Reverted:{" "}
      <span class="code">{account.kraken_account_number}</span> ended
      {account.reason !== null && ` – ${account.reason}`}
      {account.reverted_by !== null && (
        <small>
          {" "}
          by <Who who={account.reverted_by} />
        </small>
      )}
    </p>
  </li>
)

interface MovedProps {
  readonly supplier: string
  readonly move: Account["moves"][number]
}

const MovedItem = ({ move, supplier }: MovedProps) => (
  <li>
    <p>
      <Time at={move.at} />{" "}
      <Link to={pages.imports(supplier, { move: move.move_id })}>
        {move.is_undo ? "Moved back" : "Moved"} from {cohortName(move.from)} to{" "}
        {cohortName(move.to)}
      </Link>{" "}
      <small>
        by <Who who={move.by} />
      </small>
    </p>
  </li>
)

const Event = ({ account, event }: { account: Account; event: LifeEvent }) => {
  switch (event.kind) {
    case "attempt":
      return <AttemptItem attempt={event.attempt} failing={failingFields(account)} />
    case "entry":
      return <Entry entry={event.entry} />
    case "imported":
      return (
        <li class="imported">
          <p>
            <Time at={event.at} /> Imported as <span class="code">{event.as}</span>
          </p>
        </li>
      )
    case "moved":
      return <MovedItem supplier={account.import_supplier} move={event.move} />
    case "reverted":
      return <RevertedItem account={event.account} />
    case "staged":
      return (
        <li>
          <p>
            <Time at={event.at} /> Staged
            {account.times_staged > 1 && (
              <>
                , the last of{" "}
                <Link to={pages.audit({ ...keyOf(account), action: "stage" })}>
                  {count(account.times_staged)} times
                </Link>
              </>
            )}
          </p>
        </li>
      )
  }
}

/** The newest first, as in the audit log. */
export const LifeSection = ({ account }: { readonly account: Account }) => {
  const { audit, audit_seal } = account
  return (
    <Section id="life" title="Life" note="The newest first.">
      <ol class="life">
        {lifeOf(account).map((event) => (
          <Event key={`${event.kind} ${event.at}`} account={account} event={event} />
        ))}
      </ol>
      {audit_seal !== null && audit.length < audit_seal.entries && (
        <Link to={pages.audit(keyOf(account))}>What was before is in the audit log</Link>
      )}
    </Section>
  )
}
