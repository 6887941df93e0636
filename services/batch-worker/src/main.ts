/** The process of the batch worker. Its settings are named in BatchWorker.ts. */
import { limitHeapGrowth } from "@data-import/server/lifecycle/HeapGrowth"
import { runMain } from "@data-import/server/lifecycle/Service"
import { layer } from "./BatchWorker.ts"
import { lowerPriority } from "./Priority.ts"

lowerPriority()
limitHeapGrowth()
runMain(layer)
