/**
 * A disk that is full while a batch is uploaded, and again while its lines are processed. Received
 * lines stay, and the batch continues when there is room.
 */
import { Duration, Effect } from "effect"
import { System } from "@data-import/testbed/System"
import type { Disk } from "@data-import/testbed/Disk"
import { endedOf, watch } from "../BatchClient.ts"
import { prepare, verifyBatch } from "../BatchWork.ts"
import { type Scenario, seconds } from "../Scenario.ts"
import { begin, settle, type Work } from "../Work.ts"
import { diskMegabytes, NoDisk, supervised } from "./DiskFull.ts"

/** How long the disk is full. */
const full = Duration.seconds(3)

const recoveryLimit = 10

const round = Effect.fnUntraced(function* (work: Work, disk: Disk, index: number, count: number) {
  const { random } = yield* System
  const { batch, lines } = yield* prepare(work, `D${index}`, count)
  yield* watch(batch)
  let fillAt = random.between(1, count / 2)
  let freed = Promise.resolve()
  const uploads = yield* batch.upload(lines, (line) => {
    if (line < fillAt) return
    fillAt = Infinity
    Effect.runSync(disk.fill)
    freed = Effect.runPromise(Effect.delay(disk.free, full))
  })
  yield* Effect.promise(() => freed)
  yield* batch.start(count)
  yield* batch.until((seen) => endedOf(seen) >= random.between(1, count / 2))
  yield* disk.fill
  yield* Effect.sleep(full)
  yield* disk.free
  const before = endedOf(yield* batch.read())
  const recovery = yield* seconds(
    batch.until((seen) => endedOf(seen) > before || seen.counts.remaining === 0)
  )
  yield* batch.ended
  const accounts = yield* verifyBatch(batch, lines, work.writes, work.findings)
  return { accounts, recovery, uploads }
}, Effect.scoped)

export const batchDiskFull: Scenario = {
  name: "batch-disk-full",
  about: `a disk of ${diskMegabytes} MB is full during an upload, and during the work on its lines`,
  short: { kills: 1, count: 400 },
  long: { kills: 10, count: 1_000 },
  diskMegabytes,
  run: Effect.fnUntraced(function* ({ count, kills }) {
    const { disk } = yield* System
    if (disk === undefined) return yield* new NoDisk()
    const ends = yield* supervised
    yield* Effect.addFinalizer(() => disk.free)
    const work = yield* begin()
    const indices = Array.from({ length: kills }, (_, index) => index)
    const rounds = yield* Effect.forEach(indices, (index) => round(work, disk, index, count))
    const sum = (of: (round: (typeof rounds)[number]) => number) =>
      rounds.reduce((all, each) => all + of(each), 0)
    const figures = [
      { name: "accounts", value: sum(({ accounts }) => accounts), unit: "" },
      { name: "uploads", value: sum(({ uploads }) => uploads), unit: "", atLeast: kills },
      { name: "PostgreSQL ended", value: ends(), unit: "times" }
    ]
    const recoveries = rounds.map(({ recovery }) => recovery)
    return { ...(yield* settle(work)), recoveries, recoveryLimit, figures }
  })
}
