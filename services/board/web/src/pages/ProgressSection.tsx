/** The progress of a migration against its plan, and its forecast. */
import { useState } from "preact/hooks"
import { BurnUp } from "../charts/BurnUp.tsx"
import { burnUp, tableHead, tableRows } from "../charts/BurnUpModel.ts"
import { ChartData } from "../charts/ChartData.tsx"
import type { History, MigrationDetail } from "../data/Answers.ts"
import { useNow } from "../data/Now.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Section } from "../parts/Section.tsx"
import { Link } from "../routing/Location.tsx"
import { answers, pages } from "../routing/Paths.ts"
import { doneBy, interval, madeOf, whyNone } from "../text/Forecast.ts"
import { count, counted, share } from "../text/Numbers.ts"
import { planEnd } from "../text/PlanText.ts"
import type { ComponentChildren } from "preact"

type Step = History["step"]

const Steps = ({ choose, step }: { choose: (step: Step) => void; step: Step }) => (
  <fieldset class="choice">
    <legend class="hidden">Step of the curve</legend>
    {(["hour", "day"] as const).map((name) => (
      <label key={name}>
        <input type="radio" name="step" checked={step === name} onChange={() => choose(name)} />
        by {name}
      </label>
    ))}
  </fieldset>
)

/** The forecast, and how often earlier ones held. */
const ForecastText = ({ detail }: { readonly detail: MigrationDetail }) => {
  const now = useNow()
  const { forecast_record: record, migration } = detail
  const { forecast, import_supplier: supplier, time_zone: zone } = migration
  const known =
    record.made === 0 ? (
      "How often such forecasts are right is not known yet: none of this migration has come to its end."
    ) : (
      <>
        So far{" "}
        <Link to={pages.forecasts(supplier)}>
          {count(record.held)} of {counted(record.made, "forecast")} held
        </Link>{" "}
        <span class="share">({share(record.held, record.made)}; 80 % are meant to).</span>
      </>
    )
  if (forecast === null) {
    return (
      <p class="quiet">
        {whyNone(migration)} {record.made > 0 && known}
      </p>
    )
  }
  return (
    <p>
      At its past pace it is done{" "}
      <Link to={pages.forecasts(supplier)}>
        <strong>{doneBy(forecast, now, zone)}</strong>
      </Link>
      . <span class="interval">{interval(forecast, zone)}</span>{" "}
      <span class="quiet">
        <span class="past">{madeOf(forecast, migration)}</span> {known}
      </span>
    </p>
  )
}

interface Props {
  readonly detail: MigrationDetail
  readonly actions?: ComponentChildren
}

export const ProgressSection = ({ actions, detail }: Props) => {
  const [step, setStep] = useState<Step>("hour")
  const { migration, plan } = detail
  const { import_supplier: supplier, time_zone: zone } = migration
  const answer = useAnswer<History>(answers.of(supplier, "history/", { step }))
  const at = Date.parse(detail.at)
  const history = answer.value
  const model = history && burnUp({ history, migration, plan, zone, at })
  return (
    <Section
      id="progress"
      class="wide"
      title="Progress"
      note={planEnd(plan)}
      actions={
        <>
          <Steps step={step} choose={setStep} />
          {actions}
        </>
      }
    >
      <figure>
        <Answered answer={answer} lines={8}>
          {() => model && <BurnUp model={model} at={at} zone={zone} />}
        </Answered>
        <figcaption>
          <ForecastText detail={detail} />
        </figcaption>
        {model === undefined ? (
          <div class="place-of-data" />
        ) : (
          <ChartData
            title={`Staged, imported and planned accounts of ${supplier}`}
            file={`${supplier}-progress`}
            head={tableHead}
            rows={tableRows(model, zone)}
          />
        )}
      </figure>
    </Section>
  )
}
