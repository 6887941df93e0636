/** The process of the query service. Its settings are named in Query.ts. */
import { runMain } from "@data-import/server/lifecycle/Service"
import { layer } from "./Query.ts"

runMain(layer)
