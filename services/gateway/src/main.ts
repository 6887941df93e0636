/** The process of the gateway service. Its settings are named in Gateway.ts. */
import * as Service from "@data-import/server/lifecycle/Service"
import { layer } from "./Gateway.ts"

Service.runMain(layer)
