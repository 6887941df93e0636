/** A line chart as SVG text: measured values over a quantity that doubles or grows by tens. */

export interface Series {
  readonly name: string
  readonly points: ReadonlyArray<readonly [x: number, y: number]>
}

export interface ChartOptions {
  readonly title: string
  readonly xLabel: string
  readonly yLabel: string
  readonly series: ReadonlyArray<Series>
}

const width = 720
const height = 400
const frame = { left: 70, right: 20, top: 50, bottom: 55 }
const colours = ["#0b6fa4", "#c4501b", "#4a7a2c", "#7a4a9c"]

/** The least of 1, 2 and 5 times a power of ten that is not below the value. */
const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const label = (x: number, y: number, anchor: "start" | "middle" | "end", text: string): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escaped(text)}</text>`

const line = (x1: number, y1: number, x2: number, y2: number): string =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}"/>`

const shortNumber = (value: number): string => value.toLocaleString("en-GB")

const plotted = ({ series }: ChartOptions) => {
  const xs = [...new Set(series.flatMap(({ points }) => points.map(([x]) => x)))]
  const ys = series.flatMap(({ points }) => points.map(([, y]) => y))
  const [low, high] = [Math.min(...xs), Math.max(...xs)]
  const top = roundUp(Math.max(...ys, 1))
  const across = width - frame.left - frame.right
  const down = height - frame.top - frame.bottom
  const share = (x: number) => (high === low ? 0.5 : Math.log(x / low) / Math.log(high / low))
  return {
    xs: xs.toSorted((one, other) => one - other),
    top,
    xOf: (x: number) => frame.left + share(x) * across,
    yOf: (y: number) => frame.top + (1 - y / top) * down
  }
}

/** The chart; the quantity is laid out by its logarithm, the values from 0. */
export const chart = (options: ChartOptions): string => {
  const { series, title, xLabel, yLabel } = options
  const { top, xOf, xs, yOf } = plotted(options)
  const bottom = height - frame.bottom
  const right = width - frame.right
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((part) => [
    line(frame.left, yOf(part * top), right, yOf(part * top)),
    label(frame.left - 8, yOf(part * top) + 4, "end", shortNumber(part * top))
  ])
  const ticks = xs.map((x) => label(xOf(x), bottom + 20, "middle", shortNumber(x)))
  const lines = series.flatMap(({ name, points }, index) => {
    const colour = colours[index % colours.length] ?? "#000"
    const places = points.map(([x, y]) => `${xOf(x).toFixed(1)},${yOf(y).toFixed(1)}`)
    const dots = places.map((place) => {
      const [x, y] = place.split(",")
      return `<circle cx="${x}" cy="${y}" r="3.5" fill="${colour}"/>`
    })
    return [
      `<polyline points="${places.join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...dots,
      `<rect x="${frame.left + index * 150}" y="32" width="12" height="4" fill="${colour}"/>`,
      label(frame.left + index * 150 + 18, 38, "start", name)
    ]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
      `font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    label(frame.left, 20, "start", title),
    `<g stroke="#ddd">${grid.filter((part) => part.startsWith("<line")).join("")}</g>`,
    ...grid.filter((part) => part.startsWith("<text")),
    ...ticks,
    label((frame.left + right) / 2, height - 12, "middle", xLabel),
    `<text transform="rotate(-90)" x="${-(frame.top + bottom) / 2}" y="14" ` +
      `text-anchor="middle">${escaped(yLabel)}</text>`,
    ...lines,
    "</svg>",
    ""
  ].join("\n")
}
