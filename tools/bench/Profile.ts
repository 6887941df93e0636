/** Where the services spend their time: the functions with the most time of their own, by work. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Console, Effect } from "effect"
import * as Database from "./Database.ts"
import * as Load from "./Load.ts"
import type { Options } from "./Options.ts"
import * as Sides from "./Sides.ts"
import { type CpuProfile, ownTimes } from "./OwnTimes.ts"
import { short, table } from "./Table.ts"
import * as Tenants from "./Tenants.ts"
import { type WorkName, works } from "./Works.ts"

const shown = 25
const waiting = new Set(["(idle)", "(program)"])

const loaded = Effect.fnUntraced(function* (folder: string, work: WorkName, options: Options) {
  const server = yield* Database.startServer
  const database = yield* Database.make(server, "profile")
  const load = yield* Load.make
  const [tenant] = yield* Tenants.makeAll(database, ["ours"])
  if (tenant === undefined) return yield* Effect.die("There is one tenant")
  const ground = { server, database, load }
  const services = yield* Sides.startServices(database, [
    "--cpu-prof",
    `--cpu-prof-dir=${folder}`,
    `--cpu-prof-name=\${pid}.cpuprofile`
  ])
  const side = Sides.ourSide(services, tenant)
  if (work === "transactions") yield* Sides.importAccounts(ground, side)
  const sample = yield* Sides.measure(ground, side, work, options)
  return { sample, pid: services[works[work].service].pid }
}, Effect.scoped)

const busiest = (folder: string): CpuProfile => {
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile
  const busy = (profile: CpuProfile) =>
    ownTimes(profile).reduce((sum, { micros, where }) => sum + (waiting.has(where) ? 0 : micros), 0)
  const [first] = readdirSync(folder)
    .map(read)
    .toSorted((one, other) => busy(other) - busy(one))
  if (first === undefined) throw new Error("No profile was written")
  return first
}

/** Loads each work in turn, on services that are started for it, and prints where time went. */
export const profiles = Effect.fnUntraced(function* (options: Options) {
  for (const work of options.works) {
    const folder = join(yield* Database.temporaryFolder, work)
    mkdirSync(folder)
    const { sample } = yield* loaded(folder, work, options)
    const spent = ownTimes(busiest(folder)).filter(({ where }) => !waiting.has(where))
    const all = spent.reduce((sum, { micros }) => sum + micros, 0)
    const rows = spent
      .slice(0, shown)
      .map(({ micros, where }) => [
        where,
        `${((100 * micros) / all).toFixed(1)} %`,
        short(micros / sample.requests)
      ])
    yield* Console.log(`\n## ${works[work].title}, ${short(sample.rate)} requests/s\n`)
    yield* Console.log(table(["function", "of its time", "µs a request"], rows))
  }
})
