/**
 * The process of the batch worker in the local run. It tells its parent its addresses, and ends
 * when the parent has gone.
 */
import { layer } from "@data-import/batch-worker/BatchWorker"
import { lowerPriority } from "@data-import/batch-worker/Priority"
import { limitHeapGrowth } from "@data-import/server/lifecycle/HeapGrowth"
import { Listening, runMain } from "@data-import/server/lifecycle/Service"
import { Effect, Layer } from "effect"
import type { Announcement } from "./BatchWorkerProcess.ts"

const announce = Layer.effectDiscard(
  Effect.map(Listening, ({ metricsPort, url }) => {
    process.send?.({ metricsPort, url } satisfies Announcement)
    process.once("disconnect", () => process.kill(process.pid, "SIGINT"))
  })
)

lowerPriority()
limitHeapGrowth()
runMain(Layer.provideMerge(announce, layer))
