/**
 * The services on a database with many staged accounts, in turn with one of the first size.
 */
import { Clock, Console, Effect } from "effect"
import { vacuum } from "@data-import/postgres/testing/databases"
import { inRounds } from "./Comparison.ts"
import { install, startServer } from "./Installation.ts"
import * as Lists from "./Lists.ts"
import * as Space from "./Space.ts"
import { failSome, stageMany, untilNumbered } from "./Staging.ts"
import * as Subjects from "./Subjects.ts"
import type { Row } from "./Targets.ts"
import { listPrefix, listSupplier, type WorkloadName, workloads } from "./Workloads.ts"

interface Options {
  readonly first: number
  readonly sizes: ReadonlyArray<number>
  readonly pairs: number
  readonly seconds: number
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
  yield* Effect.orDie(vacuum(installation.url))
})

/** Re-stagings run the code of stagings, which add to the small database. */
const warmingUp = (workload: WorkloadName): WorkloadName =>
  workload === "stage" ? "restage" : workload

/** Compares the databases, of which the small one is made anew for each round. */
const compared = Effect.fnUntraced(function* (large: Subjects.Subject, options: Options) {
  const { server } = large.installation
  const { connections, seconds } = options
  const amount = { connections, seconds }
  const start = Effect.gen(function* () {
    const name = `small_${yield* Clock.currentTimeMillis}`
    const small = yield* Effect.flatMap(install(server, name), Subjects.services)
    yield* Subjects.importAccounts(small)
    yield* fill(small, 0, options.first)
    const both = [large, small]
    yield* Effect.forEach(both, (one) => Subjects.restart(one, options.workloads))
    return options.workloads.map((workload) => ({
      workload,
      warmUp: Subjects.warmUp(both, warmingUp(workload), amount),
      ours: Subjects.measure(large, workload, amount),
      other: Subjects.measure(small, workload, amount)
    }))
  })
  const results = yield* inRounds([{ pairs: options.pairs, start }])
  return results.map(({ comparison, sides: { workload } }): Row => {
    const { title } = workloads[workload]
    return { workload, title, comparison }
  })
})

const measureSize = Effect.fnUntraced(function* (
  size: number,
  large: Subjects.Subject,
  options: Options
) {
  yield* Console.error(`${size.toLocaleString("en-GB")} accounts`)
  const scannedBefore = yield* Space.scans(large.installation)
  const rows = yield* compared(large, options)
  const list = yield* Lists.measure(large)
  const scanned = Space.newScans(scannedBefore, yield* Space.scans(large.installation))
  const space = yield* Space.of(large.installation)
  return { size, rows, list, scanned, space }
})

export type Measured = Effect.Success<ReturnType<typeof measureSize>>

/** Measures at each of the sizes, and reads the whole list at each. */
export const measure = Effect.fnUntraced(function* (options: Options) {
  const large = yield* Effect.flatMap(install(yield* startServer, "large"), Subjects.services)
  yield* Subjects.importAccounts(large)
  const measurements: Array<Measured> = []
  let present = 0
  for (const size of options.sizes) {
    yield* fill(large, present, size)
    present = size
    measurements.push(yield* measureSize(size, large, options))
  }
  return measurements
}, Effect.scoped)
