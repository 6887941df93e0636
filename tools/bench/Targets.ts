/**
 * The targets that `npm run bench` and `npm run bench:batches` measure: what each compares, and by
 * how much it was missed. The targets of the other commands are in docs/performance.md.
 */
import { type Comparison, impreciseBy, type Ratios } from "./Comparison.ts"
import { median } from "./Statistics.ts"
import { decimals, percent, short, table } from "./Table.ts"
import { type WorkloadName, workloads } from "./Workloads.ts"

/** The comparisons. A part of the benchmark can be selected by its name. */
export const parts = {
  direct: "One service process against the peer",
  bucket: "The same with the documents in object storage",
  gateway: "Through the gateway against the peer alone",
  single: "On one connection, against the peer",
  bounds: "Against what bounds it",
  growth: "1,000,000 accounts against 1,000",
  beside: "Status requests beside a batch"
} as const

export type Part = keyof typeof parts

export const partNames = Object.keys(parts) as ReadonlyArray<Part>

export interface Row {
  readonly workload: WorkloadName
  readonly title: string
  readonly comparison: Comparison
}

export type Measured = Readonly<Partial<Record<Part, ReadonlyArray<Row>>>>

type Goal = { readonly least: number } | { readonly most: number }

/** A target with its measured value. */
export interface Judged {
  readonly what: string
  readonly goal: Goal
  readonly value: number
}

interface Target {
  readonly part: Part
  readonly what: string
  readonly measure: keyof Ratios
  readonly workloads: ReadonlyArray<WorkloadName>
  /** Selects the row, if the part has several rows for a workload. */
  readonly against?: string
  readonly goal: Goal
}

const all: ReadonlyArray<WorkloadName> = [
  "validate",
  "stage",
  "restage",
  "process",
  "status",
  "transactions",
  "notes",
  "statements"
]

export const withDocuments: ReadonlyArray<WorkloadName> = [
  "validate",
  "stage",
  "process",
  "notes",
  "statements"
]

/**
 * The workloads that are compared on databases of different sizes. Those that add accounts come
 * last, so that the small database stays small for the others.
 */
export const growing: ReadonlyArray<WorkloadName> = ["status", "restage", "stage", "process"]

const staging: ReadonlyArray<WorkloadName> = ["stage", "restage"]
const isStaging = (workload: WorkloadName): boolean => staging.includes(workload)

const requests = { measure: "rate", what: "requests/s, of the peer's" } as const

const targets: ReadonlyArray<Target> = [
  { ...requests, part: "direct", workloads: staging, goal: { least: 1.3 } },
  {
    ...requests,
    part: "direct",
    workloads: all.filter((one) => !isStaging(one)),
    goal: { least: 1 }
  },
  {
    ...requests,
    part: "bucket",
    what: "with object storage: requests/s, of the peer's",
    workloads: withDocuments,
    goal: { least: 1 }
  },
  {
    ...requests,
    part: "gateway",
    what: "through the gateway: requests/s, of the peer's",
    workloads: all,
    goal: { least: 0.85 }
  },
  {
    part: "direct",
    what: "processor time of the service, of the peer's",
    measure: "serviceCpu",
    workloads: all,
    goal: { most: 1 }
  },
  {
    part: "direct",
    what: "time of PostgreSQL, of the peer's",
    measure: "postgresCpu",
    workloads: ["process"],
    goal: { most: 1 }
  },
  {
    part: "single",
    what: "p50 on one connection, of the peer's",
    measure: "p50",
    workloads: ["stage", "process", "status"],
    goal: { most: 1 }
  },
  ...(
    [
      ["stage", 0.5],
      ["status", 0.4]
    ] as const
  ).map(([workload, least]): Target => ({
    part: "bounds",
    what: "requests/s, of pgbench with the same SQL",
    measure: "rate",
    workloads: [workload],
    against: "pgbench",
    goal: { least }
  })),
  {
    part: "growth",
    what: "with 1,000,000 accounts: requests for processor time, of those with 1,000",
    measure: "perCpu",
    workloads: growing,
    goal: { least: 0.95 }
  }
]

/** How far a value is from its goal, or null if the goal is met. */
export const missedBy = (goal: Goal, value: number): number | null => {
  const missed = "least" in goal ? goal.least - value : value - goal.most
  // Rounded to the two decimals that are shown.
  return Math.round(missed * 100) > 0 ? missed : null
}

const twoDecimals = (one: number): string => one.toFixed(2)

const cellsOf = ({ goal, value, what }: Judged): ReadonlyArray<string> => {
  const [sign, limit] = "least" in goal ? ["≥", goal.least] : ["≤", goal.most]
  const missed = missedBy(goal, value)
  const missedAs = (spell: (one: number) => string) => (missed === null ? "" : spell(missed))
  return limit < 10
    ? [what, `${sign} ${twoDecimals(limit)}`, decimals(value), missedAs(twoDecimals)]
    : [what, `${sign} ${limit.toLocaleString("en-GB")}`, short(value), missedAs(short)]
}

export const targetTable = (judged: ReadonlyArray<Judged>): string =>
  table(["work", "target", "measured", "missed by"], judged.map(cellsOf))

const rowOf = (measured: Measured, part: Part, workload: WorkloadName, against = "") =>
  (measured[part] ?? []).find((one) => one.workload === workload && one.title.endsWith(against))

const compared = (measured: Measured): ReadonlyArray<Judged> =>
  targets.flatMap(({ against, goal, measure, part, what, workloads: names }) =>
    names.flatMap((name) => {
      const row = rowOf(measured, part, name, against)
      if (row === undefined) return []
      const value = row.comparison.ratioOf[measure].value
      return [{ what: `${workloads[name].title}: ${what}`, goal, value }]
    })
  )

/** What the peer of the first comparison took, on another machine of the same kind. */
const processMillis = 1.65

/** The measured targets: the comparisons, and the processor time of PostgreSQL for `process`. */
export const judge = (measured: Measured): ReadonlyArray<Judged> => {
  const process = rowOf(measured, "direct", "process")
  const what = "process: ms of PostgreSQL, of processor time"
  const goal = { most: processMillis }
  return [
    ...compared(measured),
    ...(process ? [{ what, goal, value: process.comparison.ours.postgresCpu }] : [])
  ]
}

/** How precise the rows are, so that a reader knows how far to trust them. */
export const precisionOf = (measured: Measured): string => {
  const rows = Object.values(measured).flat()
  const imprecise = rows.map(({ comparison }) => impreciseBy(comparison.ratioOf.rate))
  const disturbed = rows.filter(({ comparison }) => comparison.isDisturbed).length
  return (
    `The interval that has the true ratio with 95 % reaches ${percent(median(imprecise))} from ` +
    `what was measured (the median of ${rows.length} rows), and ` +
    `${percent(Math.max(0, ...imprecise))} at most. Rows with too few quiet pairs: ${disturbed}.`
  )
}
