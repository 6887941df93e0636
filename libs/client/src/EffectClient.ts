/**
 * The client for Effect: `DataImport` has every operation of the contract, grouped as there, made
 * from the definitions in `libs/api`. Provide it with `layer`, and an `HttpClient`, for example
 * `FetchHttpClient.layer` of `effect/http`.
 */
import { Config, Context, Duration, Effect, Layer, type Redacted, type Scope } from "effect"
import { HttpClient } from "effect/http"
import * as AccessToken from "./AccessToken.ts"
import { type Answered, attempting, callOf, type Exchange, exchanges } from "./Calls.ts"
import { type AccountStream, accountStream } from "./AccountStream.ts"
import { type BatchFlows, batchFlows } from "./BatchFlows.ts"
import { groups } from "./ClientApi.ts"
import { type DocumentFlows, documentFlows } from "./DocumentFlows.ts"
import { type CallError, UnexpectedAnswer } from "./Errors.ts"
import { type EventFeed, eventFeed } from "./EventFeed.ts"
import { type ImportLists, importLists } from "./ImportLists.ts"
import { obtainWith } from "./ObtainToken.ts"
import type { Operations } from "./Operations.ts"

export * from "./Errors.ts"
export { linesOf } from "./NdjsonLines.ts"
export { verify as verifyWebhook } from "./Webhooks.ts"
export type { StoredAccount } from "./AccountStream.ts"
export type { Batch, BatchFlows, LineResult, ResultsOptions, UploadOptions } from "./BatchFlows.ts"
export type { Source } from "./BatchParts.ts"
export type { DocumentToUpload, UploadedDocument } from "./DocumentFlows.ts"
export type { EventFeed, EventOptions, EventPage, ImportEvent } from "./EventFeed.ts"
export type { Answer, ErrorOf, Operations } from "./Operations.ts"
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

/** The token of the client, for requests that it does not have. */
export interface OwnToken {
  /** A token that is valid now. It is shared with all calls, and renewed when it is needed. */
  readonly accessToken: () => Effect.Effect<string, CallError>
}

/** The operations, and the flows that combine several of them. */
export interface Client extends Operations {
  readonly batches: Operations["batches"] & BatchFlows
  readonly events: Operations["events"] & EventFeed
  readonly accountImport: Operations["accountImport"] & DocumentFlows
  readonly query: Operations["query"] & ImportLists
  readonly accounts: Operations["accounts"] & AccountStream
  readonly token: Operations["token"] & OwnToken
}

/** The contract's operations, on one deployment and as one API key. */
export class DataImport extends Context.Service<DataImport, Client>()(
  "@data-import/client/DataImport"
) {}

const valueOf = ({ headers, statusCode, value }: Answered<unknown>) =>
  value === undefined
    ? new UnexpectedAnswer({
        statusCode,
        requestId: headers["x-request-id"] ?? null,
        detail: "it has no body; ask with withResponse where a condition is sent"
      })
    : Effect.succeed(value)

const withoutSlash = (baseUrl: string | URL): string => {
  const address = String(baseUrl).replace(/\/+$/, "")
  if (!address.endsWith("/v1")) return address
  throw new TypeError(`baseUrl ends in /v1, which the client adds: ${address}`)
}

const defaults = { deadline: Duration.minutes(2), retries: 6 }

/**
 * Makes a client. Its token is renewed as long as the scope is open. Dies with a `TypeError` if the
 * address ends in the version.
 */
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
    const operations = Object.fromEntries(grouped) as Operations
    const httpClient = yield* HttpClient.HttpClient
    return {
      ...operations,
      batches: { ...operations.batches, ...batchFlows(operations, settings) },
      events: { ...operations.events, ...eventFeed(operations) },
      accountImport: {
        ...operations.accountImport,
        ...documentFlows(operations, httpClient, settings)
      },
      query: { ...operations.query, ...importLists(operations) },
      accounts: { ...operations.accounts, ...accountStream(operations) },
      token: { ...operations.token, accessToken: () => token.get }
    }
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
