/** The user of the board in a measurement: a manager, who sees every migration. */
import { Effect } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { issueLink } from "@data-import/domain/auth/BoardAccess"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import type { Installation } from "./Installation.ts"

/** Returns the cookie of a new session. */
export const signIn = Effect.fnUntraced(function* ({ services, url }: Installation) {
  const secret = yield* Effect.provide(issueLink, DatabaseAccess.layerOperator(url))
  const origin = services.gateway.url
  const entered = yield* HttpClient.execute(
    HttpClientRequest.post(`${origin}/board/sign-in/${secret}/`, { headers: { origin } })
  ).pipe(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }))
  return (entered.headers["set-cookie"] ?? "").split(";", 1)[0] ?? ""
}, Effect.provide(FetchHttpClient.layer))
