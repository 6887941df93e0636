/** The process of the events service. Its settings are named in Events.ts. */
import { runMain } from "@data-import/server/lifecycle/Service"
import { layer } from "./Events.ts"

runMain(layer)
