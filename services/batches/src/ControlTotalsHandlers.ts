/** Control totals over HTTP: each handler calls one program and wraps its answer. */
import { Effect, Result } from "effect"
import { ControlTotalsGroup } from "@data-import/api/ControlTotalsApi"
import { ControlTotalsManagement } from "@data-import/domain/migrations/ControlTotalsManagement"
import * as Answer from "@data-import/server/http/Answer"
import { supplierOf } from "@data-import/server/routing/PathNames"
import * as Route from "@data-import/server/routing/Route"

export const routes = Effect.gen(function* () {
  const controlTotals = yield* ControlTotalsManagement
  return Route.handle(ControlTotalsGroup, {
    setControlTotals: (call) => {
      const cohort = Result.map(call.parameters, (sent) => sent.cohort ?? null)
      const set = controlTotals.set(call.caller, supplierOf(call), cohort, call.body)
      return Effect.map(set, (body) => Answer.json(200, body))
    },
    getControlTotals: (call) =>
      Effect.map(
        controlTotals.read(call.caller, supplierOf(call), call.parameters.cohort ?? null),
        (body) => Answer.json(200, body)
      )
  })
})
