import { runMain } from "@data-import/server/Service"
import { layer } from "./PostImport.ts"

runMain(layer)
