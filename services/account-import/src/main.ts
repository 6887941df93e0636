/** The process of the account-import service. Its settings are named in AccountImport.ts. */
import { runMain } from "@data-import/server/lifecycle/Service"
import { layer } from "./AccountImport.ts"

runMain(layer)
