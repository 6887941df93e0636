/** What the user wants to be told, of which migrations and where, and what was told lately. */
import { deliveryWords } from "@data-import/domain/alerts/DeliveryWords"
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
  isStored,
  kindNames,
  problemOf,
  stateWords,
  testHeldBy,
  toldOfTest,
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

interface Stored extends Editing {
  readonly alerts: Alerts
  readonly tested: (way: Way, test: AlertTest) => void
}

type TestProps = Omit<Stored, "change"> & { readonly name: string; readonly way: Way }

/** Sends a test to what is stored, so it waits until changes are saved. */
const TestButton = ({ alerts, draft, name, tested, way }: TestProps) => {
  const send = usePost()
  const [said, setSaid] = useState<AlertTest | null>(null)
  const { error, isSending, start } = useRequest(async () => {
    setSaid(null)
    const test = (await send(answers.testAlerts, { way })) as AlertTest
    setSaid(test)
    tested(way, test)
  })
  const heldBy = testHeldBy(way, draft, alerts)
  const outcome = said && `${said.sent ? "Sent." : "Not sent."} ${said.answer}`
  const isGood = heldBy !== null || (error === null && said?.sent !== false)
  return (
    <>
      <button type="button" disabled={heldBy !== null || isSending} onClick={start}>
        {name}
      </button>
      <span role="status" id={`held-${way}`} class={isGood ? "quiet" : "bad"}>
        {heldBy ?? error?.message ?? outcome}
      </span>
    </>
  )
}

const EmailField = ({ change, ...of }: Stored) => (
  <div class="way">
    <label class="field">
      <span>E-mail address</span>
      <input
        type="email"
        autocomplete="email"
        disabled={!of.alerts.sends_email}
        aria-describedby="held-email"
        value={of.draft.email}
        onInput={({ currentTarget }) => change({ email: currentTarget.value })}
      />
    </label>
    <TestButton {...of} way="email" name="Send a test e-mail" />
  </div>
)

const WebhookField = ({ alerts, change, draft, tested }: Stored) => (
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
    <TestButton {...{ alerts, draft, tested }} way="webhook" name="Send a test to the webhook" />
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

const AlertsForm = ({ alerts: read, tested }: Pick<Stored, "alerts" | "tested">) => {
  const act = useAction()
  const [alerts, setAlerts] = useState(read)
  const [draft, setDraft] = useState(draftOf(read))
  const [hasSaved, setHasSaved] = useState(false)
  const change = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes })
  const { error, isSending, start } = useRequest(async () => {
    const saved = (await act(answers.alerts, bodyOf(draft))) as Alerts
    setAlerts(saved)
    setDraft(draftOf(saved))
    setHasSaved(true)
  })
  const problem = problemOf(draft)
  const isSaved = isStored(draft, alerts)
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
        <EmailField {...editing} alerts={alerts} tested={tested} />
        <WebhookField {...editing} alerts={alerts} tested={tested} />
      </fieldset>
      <div class="actions">
        <button type="submit" class="primary" disabled={isSaved || isSending || problem !== null}>
          Save
        </button>
        <span role="status" class={problem === null && error === null ? "quiet" : "bad"}>
          {error?.message ?? problem ?? (isSaved ? hasSaved && "Saved." : "Not saved yet.")}
        </span>
      </div>
    </form>
  )
}

const inWords = (told: Told): Told => ({ ...told, error: told.error && deliveryWords(told.error) })

const columns: ReadonlyArray<Column<Told>> = [
  { name: "When", isHead: true, cell: ({ at }) => <Time at={at} /> },
  { name: "What", cell: ({ path, title }) => <Link to={path}>{title}</Link> },
  { name: "Why", cell: ({ path, reason }) => <Link to={path}>{reason}</Link> },
  { name: "How", cell: ({ way }) => (way === "email" ? "e-mail" : "webhook") },
  {
    name: "Outcome",
    cell: ({ error, state }) => (
      <>
        {stateWords[state]}
        {error !== null && <small class="error-text"> {error}</small>}
      </>
    )
  }
]

export const AlertsPage = () => {
  const answer = useAnswer<Alerts>(answers.alerts)
  const [tests, setTests] = useState<ReadonlyArray<Told>>([])
  const tested = (way: Way, test: AlertTest) =>
    setTests([toldOfTest(way, test, Date.now()), ...tests])
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
            <AlertsForm alerts={alerts} tested={tested} />
            <Section id="told" title="Told lately">
              {tests.length + alerts.told.length === 0 ? (
                <p class="empty">You were told of nothing in the last ninety days.</p>
              ) : (
                <Table
                  caption="What you were told, the newest first"
                  columns={columns}
                  rows={[...tests, ...alerts.told.map(inWords)]}
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
