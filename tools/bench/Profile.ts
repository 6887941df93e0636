/** Profiles the services: for each workload, the functions with the most self time. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Console, Duration, Effect } from "effect"
import * as Database from "./Database.ts"
import * as Load from "./Load.ts"
import type { Options } from "./Command.ts"
import * as Subjects from "./Subjects.ts"
import { type CpuProfile, ownTimes } from "./OwnTimes.ts"
import { short, table } from "./Table.ts"
import * as Tenants from "./Tenants.ts"
import { type WorkloadName, workloads } from "./Workloads.ts"

const shown = 25
/** Samples that are not the program's own work: waiting, and the profiler. */
const isApart = (where: string): boolean => /^\((idle|program)\)$|node:inspector/.test(where)

const settling = Duration.seconds(1)
const fileLimit = Duration.seconds(60)

/** The profile that the process writes when the profiler stops. */
const written = Effect.fnUntraced(function* (folder: string, pid: number) {
  const file = join(folder, `${pid}.cpuprofile`)
  while (!existsSync(file)) yield* Effect.sleep(Duration.millis(50))
  return JSON.parse(readFileSync(file, "utf8")) as CpuProfile
}, Effect.timeout(fileLimit))

const loaded = Effect.fnUntraced(function* (workload: WorkloadName, options: Options) {
  const folder = yield* Database.temporaryFolder
  const server = yield* Database.startServer
  const database = yield* Database.make(server, "profile")
  const load = yield* Load.make
  const [tenant] = yield* Tenants.makeAll(database, ["ours"])
  if (tenant === undefined) return yield* Effect.die("There is one tenant")
  const environment = { server, database, load }
  const preload = `--import=${join(import.meta.dirname, "profiler.ts")}`
  const services = yield* Subjects.startServices(database, [preload], { PROFILE_DIR: folder })
  const direct = Subjects.ourSubject(services, tenant)
  const subject = options.gateway ? Subjects.throughGateway(direct, services) : direct
  const { pid } = services[options.gateway ? "gateway" : workloads[workload].service]
  if (workload === "transactions") yield* Subjects.importAccounts(environment, subject)
  yield* Subjects.measure(environment, subject, workload, options)
  process.kill(pid, "SIGUSR2")
  yield* Effect.sleep(settling)
  const sample = yield* Subjects.measure(environment, subject, workload, options)
  process.kill(pid, "SIGUSR2")
  return { sample, profile: yield* written(folder, pid) }
}, Effect.scoped)

/** Loads each workload in turn, on services that are started for it, and prints where time went. */
export const profiles = Effect.fnUntraced(function* (options: Options) {
  for (const workload of options.workloads) {
    const { profile, sample } = yield* loaded(workload, options)
    const spent = ownTimes(profile).filter(({ where }) => !isApart(where))
    const all = spent.reduce((sum, { micros }) => sum + micros, 0)
    const { postgresCpu, rate, serviceCpu } = sample
    const rows = spent
      .slice(0, shown)
      .map(({ micros, where }) => [
        where,
        `${((100 * micros) / all).toFixed(1)} %`,
        short((micros / all) * serviceCpu * 1_000)
      ])
    yield* Console.log(`\n## ${workloads[workload].title}, ${short(rate)} requests/s\n`)
    const used = `${short(serviceCpu)} s here, ${short(postgresCpu)} s in PostgreSQL`
    yield* Console.log(`Processor time for 1,000 requests: ${used}.\n`)
    yield* Console.log(table(["function", "of its time", "CPU µs a request"], rows))
  }
})
