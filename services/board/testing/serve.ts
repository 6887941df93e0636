/** Serves the web part with fixed answers on port 8090, to look at it while working on it. */
import { join } from "node:path"
import { serve } from "./FixtureServer.ts"

await serve(join(import.meta.dirname, "../web/dist"), 8_090)
