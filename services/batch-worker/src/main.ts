/** The process of the batch worker. Its settings are named in BatchWorker.ts. */
import { runMain } from "@data-import/server/lifecycle/Service"
import { layer } from "./BatchWorker.ts"
import { lowerPriority } from "./Priority.ts"

lowerPriority()
runMain(layer)
