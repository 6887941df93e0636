/** The process of the board service. Its settings are named in Board.ts. */
import { runMain } from "@data-import/server/lifecycle/Service"
import { layer } from "./Board.ts"

runMain(layer)
