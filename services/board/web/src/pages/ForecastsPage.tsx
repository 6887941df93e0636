/** The kept forecasts of a migration, one a day, and whether each has held. */
import type { Forecasts } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Answered } from "../parts/Answered.tsx"
import { Headline } from "../parts/Headline.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { answers } from "../routing/Paths.ts"
import { ofForecasts } from "../text/Headlines.ts"
import { count } from "../text/Numbers.ts"

type Forecast = Forecasts["forecasts"][number]

const outcomeOf = ({ held }: Forecast): string =>
  held === null ? "not known yet" : held ? "✓ held" : "✗ did not hold"

const columnsFor = (zone: string): ReadonlyArray<Column<Forecast>> => [
  { name: "Made", isHead: true, cell: ({ made_at }) => <Time at={made_at} zone={zone} /> },
  { name: "To do then", isNumber: true, class: "past", cell: ({ open }) => count(open) },
  { name: "Earliest", cell: ({ low }) => <Time at={low} zone={zone} /> },
  { name: "Done", cell: ({ at }) => <Time at={at} zone={zone} /> },
  { name: "Latest", cell: ({ high }) => <Time at={high} zone={zone} /> },
  { name: "Outcome", cell: outcomeOf }
]

export const ForecastsPage = ({ supplier }: { readonly supplier: string }) => {
  const answer = useAnswer<Forecasts>(answers.of(supplier, "forecasts/"))
  return (
    <>
      <Headline title={`Forecasts of ${supplier}`}>
        {answer.value === undefined ? "Forecasts" : ofForecasts(answer.value)}
      </Headline>
      <Answered answer={answer} lines={10}>
        {({ forecasts, time_zone: zone }) =>
          forecasts.length === 0 ? (
            <p class="empty">
              The first forecast of each day is kept here, once accounts are imported while others
              are open.
            </p>
          ) : (
            <>
              <p>
                Eight of ten are meant to hold: the migration ends between their earliest and their
                latest end. The first one of each day is kept.
              </p>
              <Table
                caption="Forecasts that were kept, the newest first"
                columns={columnsFor(zone)}
                rows={forecasts}
                keyOf={({ made_at }) => made_at}
              />
            </>
          )
        }
      </Answered>
    </>
  )
}
