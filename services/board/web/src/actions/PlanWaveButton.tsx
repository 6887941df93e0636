/** Plans a wave: its day, its owner, its target, and when it starts by itself. */
import { useState } from "preact/hooks"
import type { Wave, Waves } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { useAction } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"
import { clock } from "../text/Times.ts"
import { parseTarget, warnAccounts, warnDay } from "../text/Waves.ts"
import { ActionButton } from "./ActionButton.tsx"
import { ActionDialog } from "./ActionDialog.tsx"
import { CohortField } from "./CohortField.tsx"
import { TeamField, useTeams } from "./TeamField.tsx"
import { useIsChangeable } from "./useIsOngoing.ts"

interface Props {
  readonly supplier: string
  /** Null for one that is named in the dialog. */
  readonly cohort: string | null
}

interface Typed {
  readonly day: string
  readonly owner: string
  readonly accounts: string
  readonly time: string
  readonly team: string
}

const typedOf = (wave: Wave | undefined, zone: string): Typed => {
  const start = wave?.start?.outcome === null ? wave.start : null
  return {
    day: wave?.starts_on ?? "",
    owner: wave?.owner ?? "",
    accounts: wave?.accounts === null || wave === undefined ? "" : String(wave.accounts),
    time: start === null ? "" : clock(Date.parse(start.at), zone),
    team: start?.operations_team_name ?? ""
  }
}

const Warnings = ({ id, said }: { readonly id: string; readonly said: ReadonlyArray<string> }) => (
  <span id={id} class="bad" role="status">
    {said.join(" ")}
  </span>
)

interface InputEventOf {
  readonly currentTarget: { readonly value: string }
}

interface FieldProps {
  readonly name: string
  readonly type: "date" | "text" | "time"
  readonly value: string
  readonly change: (value: string) => void
  readonly said?: ReadonlyArray<string>
  readonly isInvalid?: boolean
}

const Field = ({ change, isInvalid = false, name, said = [], type, value }: FieldProps) => {
  const id = `wave-${name.replaceAll(/\W/g, "-")}`
  const input = {
    value,
    maxLength: 64,
    autocomplete: "off",
    "aria-invalid": isInvalid,
    "aria-describedby": id,
    onInput: ({ currentTarget }: InputEventOf) => change(currentTarget.value)
  }
  return (
    <label class="field">
      <span>{name}</span>
      {type === "text" ? <input type="text" {...input} /> : <input type={type} {...input} />}
      <Warnings id={id} said={said} />
    </label>
  )
}

interface FieldsProps {
  readonly waves: Waves
  readonly cohort: string
  readonly typed: Typed
  readonly change: (part: Partial<Typed>) => void
}

const Fields = ({ change, cohort, typed, waves }: FieldsProps) => {
  const target = parseTarget(typed.accounts)
  const said =
    target === undefined
      ? ["Write a whole number, such as 1,200."]
      : warnAccounts(waves, cohort, target)
  return (
    <>
      <Field
        name={`Day (${waves.time_zone})`}
        type="date"
        value={typed.day}
        change={(day) => change({ day })}
        said={warnDay(waves, typed.day === "" ? null : typed.day)}
      />
      <Field name="Owner" type="text" value={typed.owner} change={(owner) => change({ owner })} />
      <Field
        name="Target: accounts"
        type="text"
        value={typed.accounts}
        change={(accounts) => change({ accounts })}
        said={said}
        isInvalid={target === undefined}
      />
      <Field
        name="Starts by itself at (empty: it does not)"
        type="time"
        value={typed.time}
        change={(time) => change({ time })}
        said={typed.time !== "" && typed.day === "" ? ["Choose a day, too."] : []}
      />
    </>
  )
}

interface StartProps {
  readonly team: string
  readonly change: (team: string) => void
}

const Start = ({ change, team }: StartProps) => (
  <>
    <p>
      At this time a batch imports the pending accounts of the cohort in your name, if the newest
      decision is a go and the migration is ongoing. Otherwise it does not start, and says why.
    </p>
    <TeamField value={team} change={change} />
  </>
)

const orNull = (text: string): string | null => (text.trim() === "" ? null : text.trim())

const PlanDialog = ({ close, cohort, supplier }: Props & { close: () => void }) => {
  const act = useAction()
  const path = answers.of(supplier, "waves/")
  const waves = useAnswer<Waves>(path).value
  const teams = useTeams()
  const [named, setNamed] = useState("")
  const name = cohort ?? named.trim()
  const wave = waves?.waves.find((each) => each.cohort === name)
  const [changed, setChanged] = useState<Partial<Typed>>({})
  const typed = { ...typedOf(wave, waves?.time_zone ?? "UTC"), ...changed }
  const team = typed.team === "" ? (teams[0] ?? "") : typed.team
  const starts = typed.time !== ""
  const target = parseTarget(typed.accounts)
  const run = async () => {
    await act(path, {
      cohort: name,
      starts_on: orNull(typed.day),
      owner: orNull(typed.owner),
      accounts: target ?? null,
      start: starts ? { time: typed.time, operations_team_name: team } : null
    })
    return starts ? (
      <p>
        {name} is planned, and starts by itself if it is a go by then. Until then it can be
        cancelled here.
      </p>
    ) : (
      <p>{name} is planned.</p>
    )
  }
  return (
    <ActionDialog
      title={`Plan ${cohort ?? "a wave"} of ${supplier}`}
      confirm="Save the plan of the wave"
      isReady={
        waves !== undefined &&
        name !== "" &&
        target !== undefined &&
        (!starts || (typed.day !== "" && team !== ""))
      }
      run={run}
      close={close}
    >
      <p>
        It changes no account, and can be changed again. A wave may be planned before any account is
        in its cohort. If nothing is filled in, the plan is removed.
      </p>
      {cohort === null && (
        <CohortField supplier={supplier} name="Cohort" value={named} change={setNamed} />
      )}
      {waves !== undefined && (
        <Fields
          waves={waves}
          cohort={name}
          typed={typed}
          change={(part) => setChanged({ ...changed, ...part })}
        />
      )}
      {starts && <Start team={team} change={(each) => setChanged({ ...changed, team: each })} />}
    </ActionDialog>
  )
}

export const PlanWaveButton = ({ cohort, supplier }: Props) => {
  const isChangeable = useIsChangeable(supplier)
  return (
    <ActionButton
      name={cohort === null ? "Plan a wave…" : "Plan…"}
      label={cohort === null ? undefined : `Plan ${cohort}…`}
      isIdle={!isChangeable}
      dialog={(close) => <PlanDialog supplier={supplier} cohort={cohort} close={close} />}
    />
  )
}
