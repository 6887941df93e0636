import { runMain } from "@data-import/server/Service"
import { layer } from "./AccountImport.ts"

runMain(layer)
