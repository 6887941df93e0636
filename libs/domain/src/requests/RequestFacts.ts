/**
 * Facts about a request, collected while it runs for its log entry, its span and its answer: the
 * caller, what allows the request, the subject, and why it was refused. Programs note what they
 * have looked up, never what was sent, so that no personal data is included.
 */
import { Context, Effect } from "effect"
import type { Batch, BatchId } from "../batches/Batch.ts"
import type { ApiKeyId, OrganisationName } from "../suppliers/Organisation.ts"
import * as Holder from "../support/Holder.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"
import { type WireCode, wireCode } from "../suppliers/Supplier.ts"

/** The limit that refused a request. */
export type Limit =
  /** Requests a minute of an organisation. */
  | "rate"
  /** Requests in progress of an organisation. */
  | "organisation"
  /** Requests in progress of a client address. */
  | "address"
  /** Failed logins of a client address. */
  | "logins"
  /** Accounts that are processed at once. */
  | "attempts"
  /** Unfinished batches of an organisation, or their bytes. */
  | "batches"

/** What the caller may still send under its rate limit. */
export interface RateState {
  readonly perMinute: number
  readonly remaining: number
  /** In how many seconds another request is added. */
  readonly nextAfterSeconds: number
}

/** The names are those in the log. */
export interface RequestFacts {
  /** The caller's organisation, or on the board that of the requested data. */
  organisation: OrganisationName | undefined
  api_key: ApiKeyId | undefined
  /** A supplier of the organisation. */
  import_supplier: WireCode | undefined
  /** A batch of the organisation. */
  batch: BatchId | undefined
  /** The code of the refusal. */
  code: string | undefined
  limit: Limit | undefined
  /** For whom the request works, if not for its organisation; not in the log. */
  holder: Holder.Holder
  /** Whether what allowed the request still holds, for example its key; not in the log. */
  stillAllowed: Effect.Effect<boolean, StorageUnavailable>
  /** For the headers of the answer; not in the log. */
  rate: RateState | undefined
  /** The instance of the upstream service that got the request, as host and port. */
  upstream: string | undefined
  /** Bytes of the body that were read. */
  bytes_in: number
  /** Bytes of the answer's body; those of a stream are counted by the gateway only. */
  bytes_out: number
}

const always = Effect.succeed(true)

/** All members exist from the start, so that the shape of the object never changes. */
export const make = (): RequestFacts => ({
  organisation: undefined,
  api_key: undefined,
  import_supplier: undefined,
  batch: undefined,
  code: undefined,
  limit: undefined,
  holder: undefined,
  stillAllowed: always,
  rate: undefined,
  upstream: undefined,
  bytes_in: 0,
  bytes_out: 0
})

/** The facts of the fiber's request; null without a request. */
export const Current = Context.Reference<RequestFacts | null>("@data-import/domain/RequestFacts", {
  defaultValue: () => null
})

/** For whom the request works. */
const holderOf = ({ holder, organisation }: RequestFacts): Holder.Holder => holder ?? organisation

/** Adds the facts of a request to a context, and the holder that they name by then. */
export const addTo =
  (facts: RequestFacts) =>
  <R>(context: Context.Context<R>): Context.Context<R> =>
    context.pipe(
      Context.add(Current, facts),
      Context.add(Holder.Current, () => holderOf(facts))
    )

/** Runs an effect with the facts of its request. */
export const withFacts =
  (facts: RequestFacts) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.updateContext(effect, addTo(facts))

/** Runs work that is no request on behalf of an organisation. */
export const onBehalfOf =
  (organisation: OrganisationName) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => withFacts({ ...make(), organisation })(effect))

/** Notes facts about the present request. */
export const note = (learned: Partial<RequestFacts>): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const facts = fiber.getRef(Current)
    if (facts !== null) Object.assign(facts, learned)
    return Effect.void
  })

/** Notes the batch that a request is about. */
export const noteBatch = ({ id, organisation, settings }: Batch): Effect.Effect<void> =>
  note({ organisation, batch: id, import_supplier: wireCode(settings.supplier) })
