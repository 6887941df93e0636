import * as Service from "@data-import/server/Service"
import { layer } from "./Gateway.ts"
Service.runMain(layer)
