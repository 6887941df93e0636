/** The process of the auth service. Its settings are named in Auth.ts. */
import { runMain } from "@data-import/server/lifecycle/Service"
import { layer } from "./Auth.ts"

runMain(layer)
