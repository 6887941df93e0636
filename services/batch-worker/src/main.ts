/** The process of the batch worker. Its settings are named in BatchWorker.ts. */
import { runMain } from "@data-import/server/lifecycle/Service"
import { layer, lowerPriority } from "./BatchWorker.ts"

lowerPriority()
runMain(layer)
