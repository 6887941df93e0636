/** Reads a whole list once: time to the first byte, duration, and the memory of the service. */
import { Duration, Effect, Fiber } from "effect"
import type { Environment, Subject } from "./Subjects.ts"
import { short, table } from "./Table.ts"
import { residentBytes } from "./Usage.ts"

export interface Reading {
  readonly firstByteMillis: number
  readonly seconds: number
  readonly bytes: number
  /** The maximum of the service's resident memory, sampled 20 times a second. */
  readonly residentBytes: number
}

const sampleMemory = (pid: number, record: (bytes: number) => void) =>
  Effect.forever(
    Effect.andThen(
      Effect.sync(() => record(residentBytes(pid))),
      Effect.sleep(Duration.millis(50))
    )
  )

/** Reads the list of all that the tenant's second supplier has staged, once. */
export const measure = Effect.fnUntraced(function* ({
  load,
  subject
}: Environment & { readonly subject: Subject }) {
  let most = 0
  const [pid = 0] = subject.pidsOf("list")
  const sampling = yield* Effect.forkChild(
    sampleMemory(pid, (bytes) => {
      most = Math.max(most, bytes)
    })
  )
  const { supplier, token } = subject.tenant
  const outcome = yield* load.run({
    workload: "list",
    url: subject.urlOf("list"),
    token,
    supplier,
    first: 0,
    connections: 1,
    seconds: 600,
    requests: 1
  })
  yield* Fiber.interrupt(sampling)
  return {
    firstByteMillis: outcome.firstByte,
    seconds: outcome.seconds,
    bytes: outcome.bytes,
    residentBytes: most
  } satisfies Reading
})

export const asTable = (
  readings: ReadonlyArray<readonly [size: number, reading: Reading]>
): string =>
  table(
    ["entries", "first byte ms", "seconds", "MB", "RSS of query MB"],
    readings.map(([size, reading]) => [
      size.toLocaleString("en-GB"),
      short(reading.firstByteMillis),
      short(reading.seconds),
      short(reading.bytes / 1e6),
      short(reading.residentBytes / 2 ** 20)
    ])
  )
