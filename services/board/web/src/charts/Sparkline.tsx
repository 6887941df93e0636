/** A row's last 24 hours as a small curve. `label` is its text for screen readers. */
import { linear, path, type Point } from "./Scale.ts"

interface Props {
  readonly values: ReadonlyArray<number>
  readonly label: string
  readonly width?: number
  readonly height?: number
  /** The value at the top of the curve; the greatest one unless given. */
  readonly most?: number
}

export const Sparkline = ({ height = 18, label, most, values: all, width = 96 }: Props) => {
  // A single value is drawn as a level line.
  const values = all.length === 1 ? [...all, ...all] : all
  const top = Math.max(1, most ?? Math.max(0, ...values))
  const x = linear([0, Math.max(1, values.length - 1)], [1, width - 1])
  const y = linear([0, top], [height - 1, 1])
  const points = values.map((value, index): Point => [x(index), y(value)])
  const area = `${path(points)}L${width - 1} ${height - 1}L1 ${height - 1}Z`
  return (
    <svg class="spark" role="img" aria-label={label} width={width} height={height}>
      <line class="axis" x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} />
      {points.length > 0 && <path class="area" d={area} />}
      {points.length > 0 && <path class="curve" d={path(points)} />}
    </svg>
  )
}
