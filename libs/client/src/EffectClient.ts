/**
 * The client for Effect: `DataImport` has every operation of the contract, grouped as there, made
 * from the definitions in `libs/api`. Provide it with `layer`, and an `HttpClient`, for example
 * `FetchHttpClient.layer` of `effect/http`.
 */
import { Config, Context, Duration, Effect, Layer, Redacted, Schema, type Scope } from "effect"
import type { HttpClient } from "effect/http"
import { obtainTokenMutation } from "@data-import/api/TokenApi"
import * as AccessToken from "./AccessToken.ts"
import {
  type Answered,
  attempting,
  type CallOptions,
  callOf,
  type Exchange,
  exchanges
} from "./Calls.ts"
import {
  type AnswerOf,
  type CodeOf,
  type EndpointsOf,
  type GroupName,
  groups,
  type RequestOf
} from "./ClientApi.ts"
import { type CallError, tokenRefusedBy, UnexpectedAnswer } from "./Errors.ts"

export * from "./Errors.ts"
export type { Answered, CallOptions } from "./Calls.ts"

/** How a client is set up. */
export interface Settings {
  /** The address of the deployment, for example `https://import.example.com`. */
  readonly baseUrl: string | URL
  readonly apiKey: Redacted.Redacted
  /** How long a call may take, all attempts together; 2 minutes unless given. */
  readonly deadline?: Duration.Input
  /** How often a call is sent again at most; 6 unless given. */
  readonly retries?: number
}

type Arguments<Request> = {} extends Request
  ? [request?: Request, options?: CallOptions]
  : [request: Request, options?: CallOptions]

/**
 * An operation. `withResponse` gives the status and the headers of the answer as well. Only there
 * the value may be undefined: of a 304.
 */
export interface Operation<Request, Answer, Error> {
  (...call: Arguments<Request>): Effect.Effect<Exclude<Answer, undefined>, Error>
  readonly withResponse: (...call: Arguments<Request>) => Effect.Effect<Answered<Answer>, Error>
}

/** The operations of a group by their names. */
export type Group<Name extends GroupName> = {
  readonly [Endpoint in EndpointsOf<Name> as Endpoint["identifier"]]: Operation<
    RequestOf<Endpoint>,
    AnswerOf<Endpoint>,
    CallError<CodeOf<Endpoint>>
  >
}

export type Client = { readonly [Name in GroupName]: Group<Name> }

/** The contract's operations, on one deployment and as one API key. */
export class DataImport extends Context.Service<DataImport, Client>()(
  "@data-import/client/DataImport"
) {}

const TokenAnswer = Schema.Struct({
  data: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        obtainServiceToken: Schema.NullOr(
          Schema.Struct({
            token: Schema.String,
            payload: Schema.Struct({ iat: Schema.Finite, exp: Schema.Finite })
          })
        )
      })
    )
  ),
  errors: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        extensions: Schema.Struct({ errorCode: Schema.String, errorDescription: Schema.String })
      })
    )
  )
})

const readTokenAnswer = Schema.decodeUnknownEffect(TokenAnswer)

const obtainWith = (exchange: Exchange, apiKey: Redacted.Redacted) =>
  Effect.gen(function* () {
    const variables = { input: { APIKey: Redacted.value(apiKey) } }
    const payload = { query: obtainTokenMutation, variables }
    const { headers, statusCode, value } = yield* exchange({ payload }, {})
    const unexpected = (detail: string) =>
      new UnexpectedAnswer({ statusCode, requestId: headers["x-request-id"] ?? null, detail })
    const { data, errors = [] } = yield* Effect.mapError(readTokenAnswer(value), () =>
      unexpected("the answer of the token mutation is not as documented")
    )
    const [error] = errors
    if (error !== undefined) return yield* tokenRefusedBy(error.extensions, headers)
    const obtained = data?.obtainServiceToken
    if (obtained === undefined || obtained === null) return yield* unexpected("there is no token")
    // Their difference is right whatever the clock of this computer says.
    const { exp, iat } = obtained.payload
    return { token: obtained.token, milliseconds: (exp - iat) * 1_000 }
  })

const valueOf = ({ headers, statusCode, value }: Answered<unknown>) =>
  value === undefined
    ? new UnexpectedAnswer({
        statusCode,
        requestId: headers["x-request-id"] ?? null,
        detail: "it has no body; ask with withResponse where a condition is sent"
      })
    : Effect.succeed(value)

const withoutSlash = (baseUrl: string | URL): string => String(baseUrl).replace(/\/+$/, "")

const defaults = { deadline: Duration.minutes(2), retries: 6 }

/** Makes a client. Its token is renewed as long as the scope is open. */
export const make = (
  given: Settings
): Effect.Effect<Client, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const { apiKey, baseUrl, deadline, retries } = { ...defaults, ...given }
    const settings = {
      baseUrl: withoutSlash(baseUrl),
      deadline: Duration.toMillis(deadline),
      retries
    }
    const byName = yield* exchanges(settings.baseUrl)
    const exchangeOf = (name: string) => byName.get(name) as Exchange
    const obtain = obtainWith(exchangeOf("obtainServiceToken"), apiKey)
    const token = yield* AccessToken.make<CallError>(attempting(obtain, settings))
    const grouped = groups.map(({ endpoints, name }) => {
      const operations = endpoints.map((endpoint) => {
        const { identifier } = endpoint
        const withResponse = callOf(endpoint, exchangeOf(identifier), token, settings)
        const operation = (...call: Parameters<typeof withResponse>) =>
          Effect.flatMap(withResponse(...call), valueOf)
        return [identifier, Object.assign(operation, { withResponse })]
      })
      return [name, Object.fromEntries(operations) as unknown]
    })
    return Object.fromEntries(grouped) as Client
  })

/** The client with these settings. */
export const layer = (settings: Settings): Layer.Layer<DataImport, never, HttpClient.HttpClient> =>
  Layer.effect(DataImport, make(settings))

/** The client with the settings `DATA_IMPORT_URL` and `DATA_IMPORT_API_KEY`. */
export const layerConfig: Layer.Layer<DataImport, Config.ConfigError, HttpClient.HttpClient> =
  Layer.effect(
    DataImport,
    Effect.gen(function* () {
      const baseUrl = yield* Config.URL("DATA_IMPORT_URL")
      const apiKey = yield* Config.Redacted("DATA_IMPORT_API_KEY")
      return yield* make({ baseUrl, apiKey })
    })
  )
