/** The board's API: each handler calls one program and wraps its answer. */
import { Effect } from "effect"
import { BoardSessionGroup } from "@data-import/api/board/BoardApi"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { formatInstant } from "@data-import/domain/schema/Field"
import * as Answer from "@data-import/server/http/Answer"
import * as ActionHandlers from "./ActionHandlers.ts"
import * as Cookies from "./Cookies.ts"
import * as DataHandlers from "./DataHandlers.ts"
import * as Guard from "./Guard.ts"

const sessionRoutes = (premises: Guard.GuardDependencies) =>
  Effect.map(Configuration, ({ teams }) =>
    Guard.handle(
      BoardSessionGroup,
      {
        getSession: ({ session }) => {
          const { csrfToken, endsAt, idleUntil, user } = session
          return Effect.succeed(
            Answer.json(200, {
              name: user.name,
              role: user.role,
              organisations: user.organisations,
              csrf_token: csrfToken,
              idle_until: formatInstant(idleUntil),
              ends_at: formatInstant(endsAt)
            })
          )
        },
        listTeams: () => Effect.map(teams, (names) => Answer.json(200, { teams: names })),
        signOut: ({ place, session }) =>
          Effect.as(
            premises.access.end(session.hash),
            Cookies.clear(Answer.json(200, {}), "board", place)
          )
      },
      premises,
      "anyone"
    )
  )

/** Every route of the API. */
export const routes = Effect.fnUntraced(function* (premises: Guard.GuardDependencies) {
  return [
    ...(yield* sessionRoutes(premises)),
    ...(yield* DataHandlers.routes(premises)),
    ...(yield* ActionHandlers.routes(premises))
  ]
})
