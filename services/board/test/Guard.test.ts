import { expect, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { BoardSessionGroup } from "@data-import/api/board/BoardApi"
import type { BoardAccess } from "@data-import/domain/access/BoardAccess"
import type { Call } from "@data-import/server/http/IncomingRequest"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import * as Holder from "@data-import/domain/support/Holder"
import * as Guard from "../src/Guard.ts"
import { viewer } from "./boardService.ts"

const at = DateTime.makeUnsafe(0)
const session = {
  user: viewer,
  csrfToken: "token",
  createdAt: at,
  lastSeenAt: at,
  prolongedUntil: null,
  hash: "hash",
  idleUntil: at,
  endsAt: at
}

const headers = { cookie: "board=id", host: "127.0.0.1" }
const call = {
  clientAddress: "127.0.0.1",
  request: { method: "GET", headers, url: "/" },
  params: {},
  query: {}
} as unknown as Call

const premisesOf = (access: Partial<BoardAccess["Service"]>): Guard.GuardDependencies => ({
  access: { goesOn: () => Effect.succeed(true), ...access } as BoardAccess["Service"],
  admit: (request) => request,
  publicUrl: null
})

it.effect("a session is admitted again for its organisation, or its user if it has several", () =>
  Effect.gen(function* () {
    const [one, other] = [OrganisationName.make("one"), OrganisationName.make("other")]
    const answer = () => Effect.succeed(HttpServerResponse.empty())
    const handlers = { getSession: answer, listTeams: answer, signOut: answer } as never
    const admittedFor = Effect.fnUntraced(function* (organisations: typeof viewer.organisations) {
      const user = { ...viewer, organisations }
      const admitted: Array<Holder.Holder> = []
      const premises: Guard.GuardDependencies = {
        ...premisesOf({ open: () => Effect.succeedSome({ ...session, user }) }),
        admit: (request) =>
          Effect.withFiber((fiber) => {
            admitted.push(Holder.of(fiber))
            return request
          })
      }
      const [route] = Guard.handle(BoardSessionGroup, handlers, premises)
      yield* RequestFacts.withFacts(RequestFacts.make())(route?.run(call, undefined) ?? answer())
      return admitted
    })
    expect(yield* admittedFor([one])).toEqual([undefined, "one"])
    for (const several of [[one, other], null]) {
      expect(yield* admittedFor(several)).toEqual([undefined, `user ${viewer.subject}`])
    }
  })
)

it.effect("what a session is allowed lasts as long as the session", () =>
  Effect.gen(function* () {
    let goesOn = true
    const premises = premisesOf({
      open: () => Effect.succeedSome(session),
      goesOn: (hash) => Effect.sync(() => goesOn && hash === session.hash)
    })
    const facts = RequestFacts.make()
    yield* RequestFacts.withFacts(facts)(
      Guard.checked(call, { changes: "anyone", forSuppliers: false }, premises)
    )
    expect(yield* facts.stillAllowed).toBe(true)
    goesOn = false
    expect(yield* facts.stillAllowed).toBe(false)
  })
)
