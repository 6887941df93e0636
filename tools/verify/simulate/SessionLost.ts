/** The failure of a call about lines that the worker no longer holds. */
import { Effect } from "effect"
import { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import { OnBehalf } from "./CallScheduler.ts"

/** Fails on behalf of the request, as if the connection were gone. */
export const sessionLost = Effect.flatMap(OnBehalf, (request) => {
  request?.injectedFaults.add("unavailable")
  return new StorageUnavailable({})
})
