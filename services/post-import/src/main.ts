/** The process of the post-import service. Its settings are named in PostImport.ts. */
import { runMain } from "@data-import/server/lifecycle/Service"
import { layer } from "./PostImport.ts"

runMain(layer)
