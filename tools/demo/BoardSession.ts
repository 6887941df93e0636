/** A manager's session of the board, as a browser has it: signed in by a link that works once. */
import { borrow } from "@data-import/operator/LocalDatabase"
import { issueLink } from "@data-import/domain/auth/BoardAccess"
import type { TimeZone } from "@data-import/domain/organisation/BusinessDay"
import { OrganisationName } from "@data-import/domain/organisation/Organisation"
import { SupplierCode } from "@data-import/domain/organisation/Supplier"
import { AlreadyExists, Configuration } from "@data-import/domain/ports/Configuration"
import { inRoleOf } from "@data-import/postgres/setup/DatabaseUsers"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import { supplierOf } from "@data-import/testbed/Tenants"
import { Data, Effect, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"

const demo = OrganisationName.make("demo")

/** Work of the operator on the database of the running system. */
const asOperator = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { embedded, url } = yield* borrow
    const access = DatabaseAccess.layerOperator(embedded ? inRoleOf("operator", url) : url)
    return yield* Effect.provide(work, access)
  }).pipe(Effect.scoped)

interface Wanted {
  readonly code: string
  readonly timeZone: TimeZone
}

/** Creates missing suppliers, and returns the secret of a sign-in link. */
export const setUp = (suppliers: ReadonlyArray<Wanted>) =>
  asOperator(
    Effect.gen(function* () {
      const setup = yield* Configuration
      for (const { code, timeZone } of suppliers) {
        yield* Effect.catchIf(
          setup.createSupplier(supplierOf(code, demo, { timeZone })),
          (error) => error instanceof AlreadyExists,
          () => Effect.void
        )
      }
      return yield* issueLink
    })
  )

export const configure = (
  code: string,
  changes: Parameters<Configuration["Service"]["configureSupplier"]>[1]
) =>
  asOperator(
    Effect.flatMap(Configuration, (setup) =>
      setup.configureSupplier(SupplierCode.make(code), changes)
    )
  )

const Session = Schema.Struct({ csrf_token: Schema.String })

const Listed = Schema.Struct({
  migrations: Schema.Array(
    Schema.Struct({ import_supplier: Schema.String, forecast: Schema.NullOr(Schema.Unknown) })
  )
})

/** The board refused an action. */
class ActionRefused extends Data.TaggedError("ActionRefused")<{
  readonly path: string
  readonly status: number
  readonly text: string
}> {
  override get message(): string {
    return `${this.path} answered ${this.status}: ${this.text}`
  }
}

export interface BoardSession {
  readonly act: (path: string, body: unknown) => Effect.Effect<void, unknown, HttpClient.HttpClient>
  /** The codes of the migrations that have a forecast. */
  readonly forecasts: Effect.Effect<ReadonlySet<string>, unknown, HttpClient.HttpClient>
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
      const { status } = answer
      return yield* new ActionRefused({ path, status, text: yield* answer.text })
    }
    return undefined
  })
  const forecasts: BoardSession["forecasts"] = Effect.gen(function* () {
    const answer = yield* HttpClient.get(`${baseUrl}/board/api/migrations/`, { headers })
    const { migrations } = yield* Effect.flatMap(answer.json, Schema.decodeUnknownEffect(Listed))
    return new Set(
      migrations.flatMap((each) => (each.forecast === null ? [] : [each.import_supplier]))
    )
  })
  return { act, forecasts } satisfies BoardSession
})
