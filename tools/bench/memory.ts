/**
 * The memory of the services: `npm run bench:memory` samples the resident memory of each service,
 * idle and under load, and fits a line to it over the minutes of load (`-- --minutes 10`).
 * `--share 0.5` sends half the rate that the services can answer. `--connections` and `--write` are
 * those of `npm run bench`.
 */
import { Clock, Console, Duration, Effect, Fiber } from "effect"
import { chart } from "./Chart.ts"
import { command, type Options } from "./Command.ts"
import * as Database from "./Database.ts"
import * as Load from "./Load.ts"
import { publish } from "./Results.ts"
import * as Subjects from "./Subjects.ts"
import { slope } from "./Statistics.ts"
import { short, table } from "./Table.ts"
import * as Tenants from "./Tenants.ts"
import { residentBytes } from "./Usage.ts"
import { type WorkloadName } from "./Workloads.ts"

const megabyte = 2 ** 20
const sampleEvery = Duration.seconds(1)

/** In turn, so that every service and the gateway are under load. */
const round: ReadonlyArray<WorkloadName> = ["stage", "process", "status", "transactions", "list"]
const secondsPerWorkload = 2

type Points = Array<[minutes: number, megabytes: number]>

const sampleMemory = Effect.fnUntraced(function* (
  services: Subjects.Services,
  samples: Map<string, Points>
) {
  const began = yield* Clock.currentTimeMillis
  while (true) {
    const minutes = ((yield* Clock.currentTimeMillis) - began) / 60_000
    for (const [name, { pid }] of Object.entries(services)) {
      const points = samples.get(name) ?? []
      points.push([minutes, residentBytes(pid) / megabyte])
      samples.set(name, points)
    }
    yield* Effect.sleep(sampleEvery)
  }
})

/** A point for each doubling of the time, in hundredths of a minute: what a chart has room for. */
const doublings = (points: Points): Points => {
  const shown: Points = []
  let due = 0.25
  for (const [minutes, megabytes] of points) {
    if (minutes < due) continue
    shown.push([Math.round(minutes * 100) / 100, megabytes])
    due = 2 * minutes
  }
  return shown
}

/** Before it the memory only fills up to what it then keeps. */
const warmShare = 0.2

const rowOf = (name: string, idle: number, points: Points) => {
  const settled = points.slice(Math.floor(points.length * warmShare))
  const loaded = points.map(([, megabytes]) => megabytes)
  return [
    name,
    short(idle),
    short(Math.max(...loaded)),
    short(loaded.at(-1) ?? 0),
    (10 * slope(settled)).toFixed(1)
  ]
}

/** How much of a workload is asked for in its turn. */
const amountOf = Effect.fnUntraced(function* (
  environment: Subjects.Environment,
  subject: Subjects.Subject,
  workload: WorkloadName,
  { connections, share }: Options
) {
  const full = { connections, seconds: secondsPerWorkload }
  yield* Subjects.warmUp(environment, subject, workload, connections)
  const { rate } = yield* Subjects.measure(environment, subject, workload, full)
  return [workload, share < 1 ? { ...full, rate: rate * share } : full] as const
})

const measureMemory = Effect.fnUntraced(function* (options: Options) {
  const server = yield* Database.startServer
  const database = yield* Database.make(server, "memory")
  const generator = yield* Load.make
  const [tenant] = yield* Tenants.makeAll(database, ["ours"])
  if (tenant === undefined) return yield* Effect.die("There is one tenant")
  const services = yield* Subjects.startServices(database)
  const idle = new Map(
    Object.entries(services).map(([name, { pid }]) => [name, residentBytes(pid) / megabyte])
  )
  const environment = { server, database, load: generator }
  const subject = Subjects.throughGateway(Subjects.ourSubject(services, tenant), services)
  yield* Subjects.importAccounts(environment, subject)

  const amounts = yield* Effect.forEach(round, (workload) =>
    amountOf(environment, subject, workload, options)
  )

  const samples = new Map<string, Points>()
  const sampling = yield* Effect.forkChild(sampleMemory(services, samples))
  const end = (yield* Clock.currentTimeMillis) + options.minutes * 60_000
  while ((yield* Clock.currentTimeMillis) < end) {
    for (const [workload, amount] of amounts)
      yield* Subjects.measure(environment, subject, workload, amount)
    yield* Console.error(
      `${Math.max(0, Math.ceil((end - (yield* Clock.currentTimeMillis)) / 1e3))} s left`
    )
  }
  yield* Fiber.interrupt(sampling)

  const names = Object.keys(services)
  const rows = names.map((name) => rowOf(name, idle.get(name) ?? 0, samples.get(name) ?? []))
  const head = ["service", "idle MB", "most MB", "at the end MB", "MB more in 10 minutes"]
  const load = options.share < 1 ? `${options.share} of full load` : "full load"
  const title = `${options.minutes} minutes of ${load} on ${options.connections} connections`
  const charts = {
    "memory.svg": chart({
      title: "Resident memory under load",
      xLabel: "minutes",
      yLabel: "MB",
      series: names.map((name) => ({
        name,
        points: doublings(samples.get(name) ?? [])
      }))
    })
  }
  yield* publish(
    "memory",
    "bench:memory",
    "Memory",
    [{ title, text: table(head, rows) }],
    charts,
    options.write
  )
})

command(measureMemory)
