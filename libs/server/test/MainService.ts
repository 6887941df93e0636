/** A service as a whole process, for the test that stops it: its stop ends `/wait/`. */
import { Effect } from "effect"
import * as Answer from "../src/http/Answer.ts"
import * as Service from "../src/lifecycle/Service.ts"
import { ok, route } from "./TestService.ts"

const wait = Effect.callback<void>((resume) => {
  const go = () => resume(Effect.void)
  process.once("SIGTERM", go).once("SIGINT", go)
}).pipe(Effect.map(() => Answer.json(200, { done: true })))

Service.runMain(
  Service.layer(
    "main",
    Effect.succeed({
      routes: [route("GET", "/ok/", () => ok), route("GET", "/wait/", () => wait)]
    })
  )
)
