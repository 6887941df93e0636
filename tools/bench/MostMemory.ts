/** Samples the resident memory of processes until it is interrupted. */
import { Duration, Effect } from "effect"
import { residentBytes } from "./Usage.ts"

export const mostMemory = (pids: ReadonlyArray<number>, record: (bytes: number) => void) =>
  Effect.sync(() => pids.forEach((pid) => record(residentBytes(pid)))).pipe(
    Effect.andThen(Effect.sleep(Duration.millis(200))),
    Effect.forever
  )
