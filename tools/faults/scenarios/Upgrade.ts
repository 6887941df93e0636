/**
 * Two releases side by side under load, on one database, which this release has migrated. First
 * every instance is of this release, and each is replaced by one of the last release while the
 * other works; then the reverse. The gateways are replaced as the services are. No request fails,
 * and no write is lost. An instance is replaced at its place, as Compose does; Kubernetes starts
 * the new one first, so there are never fewer instances than here.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import * as Client from "@data-import/testbed/Client"
import * as Health from "@data-import/testbed/Health"
import * as OtherRelease from "@data-import/testbed/OtherRelease"
import type { ServiceProcess } from "@data-import/testbed/ServiceProcess"
import { System } from "@data-import/testbed/System"
import { Findings } from "../Findings.ts"
import { begin, prepare, verifyBatch } from "../BatchWork.ts"
import { type Scenario, settle, startWorkload } from "../Scenario.ts"
import { verify } from "../Verification.ts"
import { fewWriters, untilNoticed, waves } from "./RollingRestart.ts"

/** How many instances of different services start at once. More would only test the machine. */
const atOnce = 2

/** Undefined for this release. */
type Release = OtherRelease.OtherRelease | undefined

/** Restarts instances from the files of a release, except services that it does not have yet. */
const replace = Effect.fnUntraced(function* (
  instances: ReadonlyArray<ServiceProcess>,
  release: Release,
  concurrency: number | "unbounded"
) {
  const isReplaced = ({ name, root }: ServiceProcess) =>
    root !== release?.root &&
    (release === undefined || existsSync(join(release.root, "services", name)))
  yield* Effect.forEach(
    instances.filter(isReplaced),
    Effect.fnUntraced(function* (instance: ServiceProcess) {
      yield* instance.stop()
      instance.runFrom(release?.root)
      yield* instance.start()
      yield* Health.instanceReady(instance.port)
    }),
    { concurrency, discard: true }
  )
  yield* Effect.sleep(untilNoticed)
})

interface RollOut {
  readonly from: Release
  readonly to: Release
  /** The lines of a batch that workers of both releases process. */
  readonly lines: number
}

/** From one release to the other while writers and workers work. Counts failed requests. */
const rollOut = Effect.fnUntraced(function* (
  { from, lines: count, to }: RollOut,
  findings: Findings
) {
  const { instances, port } = yield* System
  yield* replace(instances, from, "unbounded")
  yield* Health.ready(port)
  // Workers yield to requests, so batches progress only when the machine has time.
  const work = yield* begin()
  const { batch, lines } = yield* prepare(work, "U", count)
  const working = yield* startWorkload({ findings, keyed: true, writers: fewWriters })
  const { probe } = working.traffic
  const worked = Effect.forEach(
    ["account-import", "post-import", "query", "auth"] as const,
    (name) => probe.more(name, 10),
    { concurrency: "unbounded" }
  )
  yield* worked
  yield* batch.upload(lines)
  yield* batch.start(count)
  for (const wave of yield* waves) {
    yield* replace(wave, to, atOnce)
    yield* worked
  }
  yield* working.traffic.finish
  yield* batch.ended
  yield* verifyBatch(batch, lines, work.writes, findings)
  yield* verify(work.tenant, work.writes.entries, findings)
  const ofBatch = work.writes.acknowledged
  const acknowledged = (yield* settle(working)).acknowledged + ofBatch
  for (const what of work.findings.described(Infinity)) findings.add("wrong", what)
  const refusals = working.traffic.refusals()
  for (const answer of refusals) {
    findings.add("wrong", `refused: ${answer.status} ${Client.codeOf(answer)}`)
  }
  const ofClient = work.session.repeats()
  if (ofClient > 0) findings.add("wrong", `${ofClient} requests about the batch failed`)
  const failed = working.traffic.repeats() + ofClient
  const lost = working.traffic.repeats() - refusals.length
  if (lost > 0) findings.add("wrong", `${lost} lost answers`)
  return { acknowledged, failed }
}, Effect.scoped)

export const upgrade: Scenario = {
  name: "upgrade",
  about: "to the last release and back, two instances of each, under 4 writers and a batch",
  short: { kills: 1, count: 100 },
  long: { kills: 3, count: 10_000 },
  instances: 2,
  run: Effect.fnUntraced(function* ({ count: lines, kills: rounds }) {
    const findings = new Findings()
    const last = yield* OtherRelease.checkedOut
    const all = yield* Effect.forEach(
      Array.from(
        { length: rounds },
        () =>
          [
            [undefined, last],
            [last, undefined]
          ] as const
      ).flat(),
      ([from, to]) => rollOut({ from, to, lines }, findings)
    )
    const sum = (of: ReadonlyArray<number>) => of.reduce((total, each) => total + each, 0)
    return {
      acknowledged: sum(all.map(({ acknowledged }) => acknowledged)),
      findings,
      figures: [
        { name: `rollouts from and to ${last.name}`, value: all.length, unit: "" },
        {
          name: "failed requests",
          value: sum(all.map(({ failed }) => failed)),
          unit: "",
          atMost: 0
        }
      ]
    }
  })
}
