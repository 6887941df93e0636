import { runMain } from "@data-import/server/Service"
import { layer } from "./Auth.ts"

runMain(layer)
