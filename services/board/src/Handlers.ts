/** The board's API: each handler calls one program and wraps its answer. */
import { Duration, Effect } from "effect"
import { alertBodies } from "@data-import/api/board/Alerts"
import { BoardSessionGroup } from "@data-import/api/board/BoardApi"
import type { OpenSession } from "@data-import/domain/access/BoardAccess"
import { AlertBoard } from "@data-import/domain/board/AlertBoard"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { formatInstant } from "@data-import/domain/schema/Field"
import * as Answer from "@data-import/server/http/Answer"
import type { Call } from "@data-import/server/http/IncomingRequest"
import * as ActionHandlers from "./ActionHandlers.ts"
import { bodyOf } from "./Bodies.ts"
import * as Cookies from "./Cookies.ts"
import * as DataHandlers from "./DataHandlers.ts"
import * as Guard from "./Guard.ts"

const alertSettings = bodyOf(alertBodies.settings)
const alertTest = bodyOf(alertBodies.test)

type Posted = Call & Guard.Signed & { readonly body: unknown }

const answered = <E, A>(effect: Effect.Effect<A, E>) =>
  Effect.map(effect, (body) => Answer.json(200, body))

const sessionBody = (session: OpenSession, prolongsBy: Duration.Duration | null) => ({
  name: session.user.name,
  role: session.user.role,
  organisations: session.user.organisations,
  import_suppliers: session.user.suppliers && session.user.suppliers.map(wireCode),
  csrf_token: session.csrfToken,
  idle_until: formatInstant(session.idleUntil),
  ends_at: formatInstant(session.endsAt),
  is_prolonged: session.prolongedUntil !== null,
  prolongs_by: prolongsBy && Duration.toSeconds(prolongsBy)
})

const sessionRoutes = (premises: Guard.GuardDependencies) => {
  const { access } = premises
  const answerOf = (session: OpenSession) =>
    Answer.json(200, sessionBody(session, access.prolongs(session)))
  return Effect.map(Effect.all([Configuration, AlertBoard]), ([{ teams }, alerts]) =>
    Guard.handle(
      BoardSessionGroup,
      {
        getSession: ({ session }) => Effect.succeed(answerOf(session)),
        prolongSession: ({ requestId, session }) =>
          Effect.map(access.prolong(session, requestId), answerOf),
        listTeams: () => Effect.map(teams, (names) => Answer.json(200, { teams: names })),
        signOut: ({ place, session }) =>
          Effect.as(access.end(session.hash), Cookies.clear(Answer.json(200, {}), "board", place)),
        getAlerts: (call) => answered(alerts.read(call)),
        setAlerts: (call: Posted) =>
          answered(Effect.flatMap(alertSettings(call), (body) => alerts.save(call, body))),
        testAlerts: (call: Posted) =>
          answered(Effect.flatMap(alertTest(call), ({ way }) => alerts.test(call, way)))
      },
      premises,
      "anyone"
    )
  )
}

/** Every route of the API. */
export const routes = Effect.fnUntraced(function* (premises: Guard.GuardDependencies) {
  return [
    ...(yield* sessionRoutes(premises)),
    ...(yield* DataHandlers.routes(premises)),
    ...(yield* ActionHandlers.routes(premises))
  ]
})
