/**
 * The client as plain promises: `new DataImport({ baseUrl, apiKey })` has the operations of the
 * contract in its groups. It wraps the client for Effect in functions that do not need Effect.
 */
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { FetchHttpClient } from "effect/http"
import * as EffectClient from "./EffectClient.ts"
import { type Promised, promised } from "./Promises.ts"

export * from "./Errors.ts"
export type { Answered } from "./Calls.ts"
export type { StoredAccount } from "./AccountStream.ts"
export type { Batch, LineResult, ResultsOptions, UploadOptions } from "./BatchFlows.ts"
export type { Source } from "./BatchParts.ts"
export type { DocumentToUpload, UploadedDocument } from "./DocumentFlows.ts"
export type { EventOptions, EventPage, ImportEvent } from "./EventFeed.ts"
export type { AbortableOptions, LineSource, PromisedOperation } from "./Promises.ts"

export interface Settings {
  /** The address of the deployment, for example `https://import.example.com`. */
  readonly baseUrl: string | URL
  readonly apiKey: string
  /** How long a call may take, all attempts together, in milliseconds; 2 minutes unless given. */
  readonly deadline?: number
  /** How often a call is sent again at most; 6 unless given. */
  readonly retries?: number
  /** Sends the requests in place of the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

/** The groups of operations as plain functions. */
export type Groups = Promised<EffectClient.Client>

const groupsOf = (settings: Settings, scope: Scope.Scope): EffectClient.Client => {
  const { apiKey, fetch, ...others } = settings
  const http = Layer.provide(
    FetchHttpClient.layer,
    fetch === undefined ? Layer.empty : Layer.succeed(FetchHttpClient.Fetch, fetch)
  )
  return EffectClient.make({ ...others, apiKey: Redacted.make(apiKey) }).pipe(
    Effect.provide(http),
    Effect.provideService(Scope.Scope, scope),
    Effect.runSync
  )
}

/** A client with one deployment and one API key. Share it: its calls share an access token. */
export class DataImport implements Groups {
  readonly accountImport: Groups["accountImport"]
  readonly postImport: Groups["postImport"]
  readonly batches: Groups["batches"]
  readonly certificates: Groups["certificates"]
  readonly controlTotals: Groups["controlTotals"]
  readonly events: Groups["events"]
  readonly query: Groups["query"]
  readonly accounts: Groups["accounts"]
  readonly system: Groups["system"]
  readonly token: Groups["token"]
  readonly #client: EffectClient.Client
  readonly #scope: Scope.Closeable

  constructor(settings: Settings) {
    this.#scope = Scope.makeUnsafe()
    this.#client = groupsOf(settings, this.#scope)
    const groups = promised(this.#client)
    this.accountImport = groups.accountImport
    this.postImport = groups.postImport
    this.batches = groups.batches
    this.certificates = groups.certificates
    this.controlTotals = groups.controlTotals
    this.events = groups.events
    this.query = groups.query
    this.accounts = groups.accounts
    this.system = groups.system
    this.token = groups.token
  }

  /** The same operations, all of which end when the signal is aborted. */
  withSignal(signal: AbortSignal): Groups {
    return promised(this.#client, signal)
  }

  /** Stops the client's background work: at most the renewal of its token. */
  async close(): Promise<void> {
    await Effect.runPromise(Scope.close(this.#scope, Exit.void))
  }
}
