import { runMain } from "@data-import/server/Service"
import { layer } from "./Query.ts"

runMain(layer)
