import { expect, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import type { BoardAccess } from "@data-import/domain/auth/BoardAccess"
import type { Call } from "@data-import/server/http/IncomingRequest"
import * as LastingAnswer from "@data-import/server/http/LastingAnswer"
import * as Guard from "../src/Guard.ts"
import { viewer } from "./boardService.ts"

const at = DateTime.makeUnsafe(0)
const session = {
  user: viewer,
  csrfToken: "token",
  createdAt: at,
  lastSeenAt: at,
  hash: "hash",
  idleUntil: at,
  endsAt: at
}

it.effect("what a session is allowed lasts as long as the session", () =>
  Effect.gen(function* () {
    let goesOn = true
    const access = {
      open: () => Effect.succeed(Option.some(session)),
      goesOn: (hash: string) => Effect.sync(() => goesOn && hash === session.hash)
    } as unknown as BoardAccess["Service"]
    const headers = { cookie: "board=id", host: "127.0.0.1" }
    const call = {
      clientAddress: "127.0.0.1",
      request: { method: "GET", headers, url: "/" }
    } as unknown as Call
    const rights = LastingAnswer.rights()
    const premises: Guard.Premises = { access, admit: (request) => request, publicUrl: null }
    yield* Effect.provideService(
      Guard.checked(call, "anyone", premises),
      LastingAnswer.Current,
      rights
    )
    expect(yield* rights.stillAllowed).toBe(true)
    goesOn = false
    expect(yield* rights.stillAllowed).toBe(false)
  })
)
