/** Reads a whole list: time to the first byte, duration, and the memory of the service. */
import { Array, Duration, Effect, Fiber } from "effect"
import { loadFor, type Subject } from "./Subjects.ts"
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

const readOnce = Effect.fnUntraced(function* (subject: Subject) {
  let most = 0
  const { server, services } = subject.installation
  const load = yield* loadFor(subject, "list", { connections: 1, seconds: 600, requests: 1 })
  const sampling = yield* Effect.forkChild(
    sampleMemory(services.query.pid, (bytes) => {
      most = Math.max(most, bytes)
    })
  )
  const outcome = yield* server.load.run(load)
  yield* Fiber.interrupt(sampling)
  return {
    firstByteMillis: outcome.firstByte,
    seconds: outcome.seconds,
    bytes: outcome.bytes,
    residentBytes: most
  } satisfies Reading
})

const readings = 100

/**
 * Reads the list of all imports of the tenant's second supplier. Returns the shortest times, since
 * other work on the machine only adds to them, and the most memory.
 */
export const measure = (subject: Subject) =>
  Effect.map(Effect.all(Array.replicate(readOnce(subject), readings)), (all): Reading => {
    const of = (name: keyof Reading) => all.map((reading) => reading[name])
    return {
      firstByteMillis: Math.min(...of("firstByteMillis")),
      seconds: Math.min(...of("seconds")),
      bytes: Math.max(...of("bytes")),
      residentBytes: Math.max(...of("residentBytes"))
    }
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
