/** Serves the web part with fixed answers on port 8090, to look at it while working on it. */
import { serve } from "./FixtureServer.ts"

await serve(8_090)
