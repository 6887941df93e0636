/** What the user wants to be told, of which migrations and where, and what was told lately. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { useRequest } from "../actions/useRequest.ts"
import type { Alerts, AlertTest, MigrationList } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { useAction, usePost } from "../data/User.ts"
import { Answered } from "../parts/Answered.tsx"
import { Headline } from "../parts/Headline.tsx"
import { Section } from "../parts/Section.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { Link } from "../routing/Location.tsx"
import { answers } from "../routing/Paths.ts"
import {
  bodyOf,
  type Draft,
  draftOf,
  kindNames,
  problemOf,
  stateWords,
  toggled,
  type Way
} from "../text/Alerts.ts"
import { ofAlerts } from "../text/Headlines.ts"

type Told = Alerts["told"][number]

interface Editing {
  readonly draft: Draft
  readonly change: (changes: Partial<Draft>) => void
}

const Check = (props: {
  readonly isChecked: boolean
  readonly toggle: () => void
  readonly children: ComponentChildren
}) => (
  <label class="check">
    <input type="checkbox" checked={props.isChecked} onChange={props.toggle} />
    <span>{props.children}</span>
  </label>
)

const Kinds = ({ change, draft }: Editing) => (
  <fieldset class="options">
    <legend>Tell me when</legend>
    {kindNames.map(([kind, name]) => (
      <div key={kind} class="option">
        <Check
          isChecked={draft.kinds.includes(kind)}
          toggle={() => change({ kinds: toggled(draft.kinds, kind) })}
        >
          {name}
        </Check>
        {kind === "failing" && (
          <label>
            <input
              type="number"
              min="1"
              max="100"
              aria-label="Percent of the accounts that were tried"
              value={draft.share}
              onInput={({ currentTarget }) => change({ share: currentTarget.value })}
            />{" "}
            % of those that were tried
          </label>
        )}
      </div>
    ))}
  </fieldset>
)

/** Also those that were chosen and are no longer visible, so that they can be taken away. */
const Suppliers = ({ change, draft }: Editing) => {
  const { value } = useAnswer<MigrationList>(answers.migrations)
  const visible = value?.migrations.map((each) => each.import_supplier) ?? []
  const chosen = draft.suppliers
  const names = [...new Set([...visible, ...(chosen ?? [])])].toSorted()
  const choose = (suppliers: Draft["suppliers"]) => () => change({ suppliers })
  return (
    <fieldset class="options">
      <legend>Of these migrations</legend>
      <div class="choice">
        <label>
          <input type="radio" name="of" checked={chosen === null} onChange={choose(null)} /> All
          that I may see
        </label>
        <label>
          <input type="radio" name="of" checked={chosen !== null} onChange={choose([])} /> Some
        </label>
      </div>
      {chosen !== null && (
        <div class="names" role="group" aria-label="Migrations">
          {names.map((name) => (
            <Check
              key={name}
              isChecked={chosen.includes(name)}
              toggle={choose(toggled(chosen, name))}
            >
              {name}
            </Check>
          ))}
        </div>
      )}
    </fieldset>
  )
}

/** Sends a test to what is stored, so it waits until changes are saved. */
const TestButton = ({ isReady, name, way }: { isReady: boolean; name: string; way: Way }) => {
  const send = usePost()
  const [said, setSaid] = useState<AlertTest | null>(null)
  const { error, isSending, start } = useRequest(async () => {
    setSaid(null)
    setSaid((await send(answers.testAlerts, { way })) as AlertTest)
  })
  return (
    <>
      <button type="button" disabled={!isReady || isSending} onClick={start}>
        {name}
      </button>
      <span role="status" class={error === null && said?.sent !== false ? "quiet" : "bad"}>
        {error?.message ?? (said && `${said.sent ? "Sent." : "Not sent."} ${said.answer}`)}
      </span>
    </>
  )
}

interface Stored extends Editing {
  readonly alerts: Alerts
  readonly isSaved: boolean
}

const EmailField = ({ alerts, change, draft, isSaved }: Stored) => (
  <div class="way">
    <label class="field">
      <span>E-mail address</span>
      <input
        type="email"
        autocomplete="email"
        value={draft.email}
        onInput={({ currentTarget }) => change({ email: currentTarget.value })}
      />
    </label>
    {alerts.sends_email ? (
      <TestButton
        way="email"
        name="Send a test e-mail"
        isReady={isSaved && alerts.email !== null}
      />
    ) : (
      <p class="quiet">This board is not set up to send e-mail. Ask its operator.</p>
    )}
  </div>
)

const WebhookField = ({ alerts, change, draft, isSaved }: Stored) => (
  <div class="way">
    <label class="field">
      <span>Webhook of Slack, Teams or another chat: an https address</span>
      <input
        type="url"
        autocomplete="off"
        spellcheck={false}
        value={draft.webhook ?? ""}
        placeholder={draft.webhook === null ? "" : (alerts.webhook ?? "")}
        aria-describedby="webhook-note"
        onInput={({ currentTarget: { value } }) =>
          change({ webhook: value === "" ? undefined : value })
        }
      />
    </label>
    <TestButton
      way="webhook"
      name="Send a test to the webhook"
      isReady={isSaved && alerts.webhook !== null}
    />
    {alerts.webhook !== null && draft.webhook !== null && (
      <button type="button" class="plain" onClick={() => change({ webhook: null })}>
        Remove the webhook
      </button>
    )}
    <p id="webhook-note" class="quiet">
      {draft.webhook === null
        ? "It will be removed when you save."
        : "Who knows it can write to your chat, so it is not shown again once it is saved."}
    </p>
  </div>
)

const AlertsForm = ({ alerts }: { readonly alerts: Alerts }) => {
  const act = useAction()
  const [draft, setDraft] = useState(draftOf(alerts))
  const [isSaved, setSaved] = useState(true)
  const change = (changes: Partial<Draft>) => {
    setDraft({ ...draft, ...changes })
    setSaved(false)
  }
  const { error, isSending, start } = useRequest(async () => {
    setDraft(draftOf((await act(answers.alerts, bodyOf(draft))) as Alerts))
    setSaved(true)
  })
  const problem = problemOf(draft)
  const editing = { draft, change }
  return (
    <form
      class="alerts"
      onSubmit={(event) => {
        event.preventDefault()
        start()
      }}
    >
      <Kinds {...editing} />
      <Suppliers {...editing} />
      <fieldset class="options">
        <legend>Send it to</legend>
        <EmailField {...editing} alerts={alerts} isSaved={isSaved} />
        <WebhookField {...editing} alerts={alerts} isSaved={isSaved} />
      </fieldset>
      <div class="actions">
        <button type="submit" class="primary" disabled={isSaved || isSending || problem !== null}>
          Save
        </button>
        <span role="status" class={problem === null && error === null ? "quiet" : "bad"}>
          {error?.message ?? problem ?? (isSaved ? "Saved." : "Not saved yet.")}
        </span>
      </div>
    </form>
  )
}

const columns: ReadonlyArray<Column<Told>> = [
  { name: "When", isHead: true, cell: ({ at }) => <Time at={at} /> },
  { name: "What", cell: ({ path, title }) => <Link to={path}>{title}</Link> },
  { name: "Why", cell: ({ path, reason }) => <Link to={path}>{reason}</Link> },
  { name: "How", cell: ({ way }) => (way === "email" ? "e-mail" : "webhook") },
  {
    name: "Outcome",
    cell: ({ error, state }) => (
      <>
        {stateWords[state]} {error !== null && <span class="code">{error}</span>}
      </>
    )
  }
]

export const AlertsPage = () => {
  const answer = useAnswer<Alerts>(answers.alerts)
  return (
    <>
      <Headline title="Alerts">
        {answer.value === undefined ? "Alerts" : ofAlerts(answer.value)}
      </Headline>
      <Answered answer={answer} lines={10}>
        {(alerts) => (
          <>
            <p>
              You are told once of each thing, within about a minute, and again when it comes back
              after an hour or more. Nobody else sees these settings. They are deleted when you have
              not signed in for ninety days.
            </p>
            <AlertsForm alerts={alerts} />
            <Section id="told" title="Told lately">
              {alerts.told.length === 0 ? (
                <p class="empty">You were told of nothing in the last ninety days.</p>
              ) : (
                <Table
                  caption="What you were told, the newest first"
                  columns={columns}
                  rows={alerts.told}
                  keyOf={({ at, path, title, way }) => `${at} ${path} ${title} ${way}`}
                />
              )}
            </Section>
          </>
        )}
      </Answered>
    </>
  )
}
