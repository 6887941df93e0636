/**
 * The targets that `npm run bench` measures, in one place: what each compares, and by how much it
 * was missed. Those of the other commands stand in docs/performance.md.
 */
import type { Comparison, Ratios } from "./Comparison.ts"
import { percent, short, table } from "./Table.ts"
import { type WorkloadName, workloads } from "./Workloads.ts"

/** What is compared with what; a part of the benchmark can be asked for by its name. */
export const parts = {
  direct: "One service process against the peer",
  bucket: "The same with the documents in object storage",
  gateway: "Through the gateway against the peer alone",
  single: "On one connection, against the peer",
  bounds: "Against what bounds it"
} as const

export type Part = keyof typeof parts

export const partNames = Object.keys(parts) as ReadonlyArray<Part>

export interface Row {
  readonly workload: WorkloadName
  readonly title: string
  readonly comparison: Comparison
}

export type Measured = Readonly<Partial<Record<Part, ReadonlyArray<Row>>>>

interface Target {
  readonly part: Part
  readonly what: string
  readonly measure: keyof Ratios
  readonly workloads: ReadonlyArray<WorkloadName>
  /** Of what stands in the part more than once for a workload, that which is meant. */
  readonly against?: string
  readonly goal: { readonly least: number } | { readonly most: number }
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
  }))
]

/** How far a value is from its goal, or null where it is met. */
export const missedBy = (goal: Target["goal"], value: number): number | null => {
  const missed = "least" in goal ? goal.least - value : value - goal.most
  // To the two decimals that are shown.
  return Math.round(missed * 100) > 0 ? missed : null
}

const spelled = (goal: Target["goal"]): string =>
  "least" in goal ? `≥ ${goal.least.toFixed(2)}` : `≤ ${goal.most.toFixed(2)}`

const asMissed = (missed: number | null): string => (missed === null ? "" : missed.toFixed(2))

const rowsOf = (measured: Measured, target: Target): ReadonlyArray<ReadonlyArray<string>> =>
  target.workloads.flatMap((workload) => {
    const row = (measured[target.part] ?? []).find(
      (one) => one.workload === workload && one.title.endsWith(target.against ?? "")
    )
    if (row === undefined) return []
    const value = row.comparison.ratioOf[target.measure]
    const missed = asMissed(missedBy(target.goal, value))
    const title = `${workloads[workload].title}: ${target.what}`
    return [[title, spelled(target.goal), value.toFixed(2), missed]]
  })

const offlineGoal = 15_000

/** A row for each target that was measured. `offline` is accounts a second on one core. */
export const targetTable = (measured: Measured, offline: number): string => {
  const missed = offline < offlineGoal ? short(offlineGoal - offline) : ""
  return table(
    ["work", "target", "measured", "missed by"],
    [
      ...targets.flatMap((target) => rowsOf(measured, target)),
      ["offline validation: accounts a core and second", "≥ 15,000", short(offline), missed]
    ]
  )
}

/** The rows that scatter most, so that a reader knows how far to trust the figures. */
export const scatterOf = (measured: Measured): string => {
  const rows = Object.values(measured).flat()
  const scatters = rows.map(({ comparison }) => comparison.scatter).toSorted((a, b) => a - b)
  const middle = scatters[scatters.length >> 1] ?? 0
  const disturbed = rows.filter(({ comparison }) => comparison.isDisturbed).length
  return (
    `From the lowest pair to the highest, a row scatters by ${percent(middle)} of its middle ` +
    `(the middle of ${rows.length} rows), and by ${percent(scatters.at(-1) ?? 0)} at most. ` +
    `Rows with too few quiet pairs: ${disturbed}.`
  )
}
