/** A manager's session of the board, as a browser has it: signed in by a link that works once. */
import { borrow } from "@data-import/operator/LocalDatabase"
import { issueLink } from "@data-import/domain/auth/BoardAccess"
import { TimeZone } from "@data-import/domain/organisation/BusinessDay"
import { OrganisationName } from "@data-import/domain/organisation/Organisation"
import { SupplierCode } from "@data-import/domain/organisation/Supplier"
import { AlreadyExists, Configuration } from "@data-import/domain/ports/Configuration"
import { inRoleOf } from "@data-import/postgres/setup/DatabaseUsers"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import { supplierOf } from "@data-import/testbed/Tenants"
import { Effect, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import * as Portfolio from "./Portfolio.ts"

const firstZone = TimeZone.make(Portfolio.firstZone)
const lastZone = TimeZone.make(Portfolio.lastZone)

const demo = OrganisationName.make("demo")

/** Work of the operator on the database of the running system. */
const asOperator = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { embedded, url } = yield* borrow
    const access = DatabaseAccess.layerOperator(embedded ? inRoleOf("operator", url) : url)
    return yield* Effect.provide(work, access)
  }).pipe(Effect.scoped)

/** Creates the suppliers that are not there yet, and returns the secret of a sign-in link. */
export const setUp = (codes: ReadonlyArray<string>) =>
  asOperator(
    Effect.gen(function* () {
      const setup = yield* Configuration
      for (const code of codes) {
        yield* Effect.catchIf(
          setup.createSupplier(supplierOf(code, demo, { timeZone: firstZone })),
          (error) => error instanceof AlreadyExists,
          () => Effect.void
        )
      }
      return yield* issueLink
    })
  )

/** From now on documents are checked, and the supplier's day begins last. */
export const tighten = (code: string) =>
  asOperator(
    Effect.flatMap(Configuration, (setup) =>
      setup.configureSupplier(SupplierCode.make(code), { documentCheck: true, timeZone: lastZone })
    )
  )

const Session = Schema.Struct({ csrf_token: Schema.String })

export interface BoardSession {
  readonly act: (path: string, body: unknown) => Effect.Effect<void, unknown, HttpClient.HttpClient>
}

/** Uses up the link. */
export const signIn = Effect.fnUntraced(function* (baseUrl: string, secret: string) {
  const own = { origin: baseUrl }
  const entered = yield* HttpClient.execute(
    HttpClientRequest.post(`${baseUrl}/board/sign-in/${secret}/`, { headers: own })
  ).pipe(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }))
  const cookie = (entered.headers["set-cookie"] ?? "").split(";", 1)[0] ?? ""
  const response = yield* HttpClient.get(`${baseUrl}/board/api/session/`, { headers: { cookie } })
  const { csrf_token } = yield* Effect.flatMap(response.json, Schema.decodeUnknownEffect(Session))
  const headers = { ...own, cookie, "x-csrf-token": csrf_token }
  const act: BoardSession["act"] = Effect.fnUntraced(function* (path, body) {
    const request = HttpClientRequest.post(`${baseUrl}/board/api/${path}`, { headers })
    const answer = yield* HttpClient.execute(HttpClientRequest.bodyJsonUnsafe(request, body))
    if (answer.status !== 200) {
      return yield* Effect.fail(new Error(`${path}: ${answer.status} ${yield* answer.text}`))
    }
    return undefined
  })
  return { act }
})
