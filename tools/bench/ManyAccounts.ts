/**
 * The services on a database with many staged accounts, in turn with one that stays at its first
 * size.
 */
import { Console, Effect } from "effect"
import { vacuum } from "@data-import/postgres/testing/databases"
import { inTurn, summary } from "./Comparison.ts"
import { install, startServer } from "./Installation.ts"
import * as Lists from "./Lists.ts"
import * as Space from "./Space.ts"
import { failSome, stageMany, untilNumbered } from "./Staging.ts"
import * as Subjects from "./Subjects.ts"
import { asRatio } from "./Table.ts"
import type { Row } from "./Targets.ts"
import {
  listPrefix,
  listSupplier,
  queriesOfMany,
  type WorkloadName,
  workloads
} from "./Workloads.ts"

interface Options {
  readonly first: number
  readonly sizes: ReadonlyArray<number>
  readonly pairs: number
  readonly connections: number
  readonly workloads: ReadonlyArray<WorkloadName>
}

const fill = Effect.fnUntraced(function* (
  { installation, tenant }: Subjects.Subject,
  from: number,
  to: number
) {
  const supplier = listSupplier(tenant.supplier)
  yield* stageMany(installation, "services", { ...tenant, supplier, prefix: listPrefix, from, to })
  yield* failSome(installation, supplier)
  yield* untilNumbered(installation)
  yield* Effect.orDie(vacuum(installation.url, grown))
})

const grown = ["import_processes", "import_attempts", "outbox", "audit_log", "audit_chains"]

/** Re-stagings add to the small database as well. */
const warmingUp = { requests: 3_000, seconds: 10 }

const reads: ReadonlySet<WorkloadName> = new Set(["status", ...queriesOfMany])

/** Few if the runs add to the small database, which is to stay small. */
const requestsOf = (workload: WorkloadName): number => {
  if (workload === "status") return 10_000
  return reads.has(workload) ? 2_000 : 1_000
}

const compared = Effect.fnUntraced(function* (
  large: Subjects.Subject,
  small: Subjects.Subject,
  options: Options
) {
  const rows: Array<Row> = []
  const { connections, pairs } = options
  for (const workload of options.workloads) {
    const amount = { connections, seconds: 30, requests: requestsOf(workload) }
    const run = (subject: Subjects.Subject) => Subjects.measure(subject, workload, amount)
    for (const subject of [large, small]) {
      const warming = workload === "restage" || reads.has(workload) ? workload : "validate"
      yield* Subjects.measure(subject, warming, { connections, ...warmingUp })
    }
    const comparison = summary(yield* inTurn(pairs, run(large), run(small)))
    const { title } = workloads[workload]
    yield* Console.error(`${title}: ratio ${asRatio(comparison.ratioOf.rate)}`)
    rows.push({ workload, title, comparison })
  }
  return rows
})

const measureSize = Effect.fnUntraced(function* (
  size: number,
  large: Subjects.Subject,
  small: Subjects.Subject,
  options: Options
) {
  yield* Console.error(`${size.toLocaleString("en-GB")} accounts`)
  const scannedBefore = yield* Space.scans(large.installation)
  const rows = yield* compared(large, small, options)
  const list = yield* Lists.measure(large)
  const scanned = Space.newScans(scannedBefore, yield* Space.scans(large.installation))
  const space = yield* Space.of(large.installation)
  return { size, rows, list, scanned, space }
})

export type Measured = Effect.Success<ReturnType<typeof measureSize>>

/** Measures at each of the sizes, and reads the whole list at each. */
export const measure = Effect.fnUntraced(function* (options: Options) {
  const server = yield* startServer
  const subjectOn = (name: string) => Effect.flatMap(install(server, name), Subjects.services)
  const small = yield* subjectOn("small")
  const large = yield* subjectOn("large")
  yield* fill(small, 0, options.first)
  for (const subject of [small, large]) yield* Subjects.importAccounts(subject)
  const measurements: Array<Measured> = []
  let present = 0
  for (const size of options.sizes) {
    yield* fill(large, present, size)
    present = size
    measurements.push(yield* measureSize(size, large, small, options))
  }
  return measurements
}, Effect.scoped)
