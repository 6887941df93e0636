/** The process of the query service. Its settings are named in Query.ts. */
import { limitHeapGrowth } from "@data-import/server/lifecycle/HeapGrowth"
import { runMain } from "@data-import/server/lifecycle/Service"
import { layer } from "./Query.ts"

limitHeapGrowth()
runMain(layer)
