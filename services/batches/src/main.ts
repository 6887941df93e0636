/** The process of the batches service. Its settings are named in Batches.ts. */
import { runMain } from "@data-import/server/lifecycle/Service"
import { layer } from "./Batches.ts"

runMain(layer)
