/** The metrics that docs/metrics.md lists, compared with those that a service reports. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

export interface DocumentedMetric {
  readonly name: string
  readonly type: string
  readonly labels: ReadonlyArray<string>
}

const page = join(import.meta.dirname, "../../docs/metrics.md")

const row = /^\| `(\w+)` \| (counter|gauge|histogram) \| ([^|]+) \|/gm

/** Every metric of the page, in its order. */
export const documentedMetrics = (): ReadonlyArray<DocumentedMetric> =>
  [...readFileSync(page, "utf8").matchAll(row)].map(([, name = "", type = "", labels = ""]) => ({
    name,
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label)
  }))

const labelsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label = ""]) => label)

/** What the text of `/metrics` has that the page lacks, or has differently. */
export const undocumentedIn = (text: string): ReadonlyArray<string> => {
  const known = new Map(documentedMetrics().map((metric) => [metric.name, metric]))
  const types = new Map(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = "", type = ""]) => [name, type])
  )
  const wrongTypes = [...types].flatMap(([name, type]) =>
    known.get(name)?.type === type ? [] : [`${name} is a ${type}`]
  )
  const wrongLabels = [...text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)].flatMap(
    ([, series = "", labels = ""]) => {
      const base = series.replace(/_(?:bucket|count|sum)$/, "")
      const name = types.get(base) === "histogram" ? base : series
      const own = new Set([...(known.get(name)?.labels ?? []), ...(base === series ? [] : ["le"])])
      return labelsOf(labels)
        .filter((label) => !own.has(label))
        .map((label) => `${name} has the label ${label}`)
    }
  )
  return [...new Set([...wrongTypes, ...wrongLabels])]
}
