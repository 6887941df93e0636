/** What was staged and imported against the plan, with the forecast as a fan. */
import { useId } from "preact/hooks"
import { count, short } from "../text/Numbers.ts"
import { offsetAt, timeLabels } from "../text/Times.ts"
import { type BurnUpModel, described } from "./BurnUpModel.ts"
import { linear, path, type Point, spread, ticks, timeTicks } from "./Scale.ts"
import { useWidth } from "./useWidth.ts"

const height = 260
const margin = { top: 12, right: 144, bottom: 24, left: 48 }
const day = 86_400_000

interface Props {
  readonly model: BurnUpModel
  readonly at: number
  readonly zone: string
}

interface Scales {
  readonly x: (at: number) => number
  readonly y: (count: number) => number
  readonly width: number
}

const Axes = ({ model, scales, zone }: { model: BurnUpModel; scales: Scales; zone: string }) => {
  const right = scales.width - margin.right
  const base = height - margin.bottom
  const wanted = Math.max(2, Math.floor((right - margin.left) / 90))
  const times = timeTicks(model.from, model.to, wanted, (tick) => offsetAt(tick, zone))
  const labels = timeLabels(times, zone, model.to - model.from <= 2 * day)
  return (
    <g class="axes">
      {ticks(model.most).map((tick) => (
        <g key={tick}>
          <line x1={margin.left} x2={right} y1={scales.y(tick)} y2={scales.y(tick)} />
          <text x={margin.left - 6} y={scales.y(tick) + 4} text-anchor="end">
            {short(tick)}
          </text>
        </g>
      ))}
      {times.map((tick, index) => (
        <g key={tick}>
          <line x1={scales.x(tick)} x2={scales.x(tick)} y1={base} y2={base + 4} />
          <text x={scales.x(tick)} y={base + 17} text-anchor="middle">
            {labels[index]}
          </text>
        </g>
      ))}
    </g>
  )
}

const drawn = (points: ReadonlyArray<Point>, { x, y }: Scales) =>
  path(points.map(([at, value]) => [x(at), y(value)]))

const Fan = ({ fan, scales }: { fan: NonNullable<BurnUpModel["fan"]>; scales: Scales }) => {
  const [low, median, high] = fan.ends
  return (
    <g>
      <path class="fan" d={`${drawn([fan.now, low, high], scales)}Z`} />
      <path class="median" d={drawn([fan.now, median], scales)} />
    </g>
  )
}

/** A dot at the end of each line: all that is visible of a history of one hour. */
const Ends = ({ model, scales }: { model: BurnUpModel; scales: Scales }) => (
  <g>
    {([model.staged, model.imported] as const).map((points, index) => {
      const [at, value] = points.at(-1) ?? [0, 0]
      return (
        points.length > 0 && (
          <circle key={index} class="end" cx={scales.x(at)} cy={scales.y(value)} r="3" />
        )
      )
    })}
  </g>
)

/** Names at the ends of the lines, with the last counts. */
const Labels = ({ model, scales }: { model: BurnUpModel; scales: Scales }) => {
  const named = (
    [
      ["staged", model.staged],
      ["imported", model.imported],
      ["plan", model.plan]
    ] as const
  ).flatMap(([name, points]) => {
    const last = points.at(-1)
    return last === undefined ? [] : [{ name, value: last[1] }]
  })
  const wanted = named.map(({ value }) => scales.y(value) + 4)
  const places = spread(wanted, 16, [margin.top + 4, height - margin.bottom])
  return (
    <g class="labels">
      {named.map(({ name, value }, index) => (
        <text key={name} class={name} x={scales.width - margin.right + 6} y={places[index]}>
          {`${name} ${count(value)}`}
        </text>
      ))}
    </g>
  )
}

export const BurnUp = ({ at, model, zone }: Props) => {
  const { ref, width } = useWidth()
  const id = useId()
  const top = ticks(model.most).at(-1) ?? 1
  const scales: Scales = {
    width,
    x: linear([model.from, model.to], [margin.left, width - margin.right]),
    y: linear([0, top], [height - margin.bottom, margin.top])
  }
  return (
    <div ref={ref} class="chart">
      <svg
        role="img"
        aria-labelledby={id}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
      >
        <title id={id}>{described(model, at)}</title>
        <Axes model={model} scales={scales} zone={zone} />
        {model.fan !== null && <Fan fan={model.fan} scales={scales} />}
        <path class="line plan" d={drawn(model.plan, scales)} />
        <path class="line staged" d={drawn(model.staged, scales)} />
        <path class="line imported" d={drawn(model.imported, scales)} />
        <line
          class="present"
          x1={scales.x(at)}
          x2={scales.x(at)}
          y1={margin.top}
          y2={height - margin.bottom}
        />
        <text class="present" x={scales.x(at) - 4} y={margin.top + 8} text-anchor="end">
          now
        </text>
        <Ends model={model} scales={scales} />
        <Labels model={model} scales={scales} />
      </svg>
    </div>
  )
}
