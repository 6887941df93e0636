/**
 * What the document says of an operation beyond its schemas: examples, and parameters, which reach
 * the handlers as they stand in the URL. Kept as an annotation of the endpoint, so that nobody
 * documents an operation in another place than where it is defined.
 */
import { Context, type Schema } from "effect"
import { type HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import type { ValidationFailed } from "@data-import/domain/requests/Failure"

export interface Example {
  readonly summary: string
  readonly value: unknown
}

export interface ParameterDocs {
  readonly description: string
  /** JSON Schema of the value that the parameter's text spells. */
  readonly schema: Readonly<Record<string, unknown>>
  readonly example: unknown
}

export interface OperationDocs {
  readonly parameters?: Readonly<Record<string, ParameterDocs>>
  readonly requests?: Readonly<Record<string, Example>>
  /** By status. */
  readonly answers?: Readonly<Record<number, Readonly<Record<string, Example>>>>
  /** Headers of the answers by status; what every answer has is added to the whole document. */
  readonly headers?: Readonly<Record<number, Readonly<Record<string, string>>>>
}

export const Docs = Context.Reference<OperationDocs>("@data-import/api/Docs", {
  defaultValue: () => ({})
})

/**
 * Marks an endpoint that takes an Idempotency-Key, with the code of its refusal where the key is
 * none. The others ignore the header.
 */
export const KeyRefusal = Context.Reference<ValidationFailed["code"] | null>(
  "@data-import/api/KeyRefusal",
  { defaultValue: () => null }
)

/** The code with which the endpoint refuses an Idempotency-Key that is none; null if it takes none. */
export const keyRefusalOf = (endpoint: HttpApiEndpoint.Top): ValidationFailed["code"] | null =>
  Context.get(endpoint.annotations, KeyRefusal)

/** The type of a success schema whose status is 201. */
interface Created {
  readonly "~status": 201
}

/** A success of 201. Unlike `HttpApiSchema.status`, its type says so. */
export const created = <S extends Schema.Top>(schema: S): S & Created =>
  HttpApiSchema.status(201)<Schema.Top>(schema) as S & Created

type SuccessOf<E> = HttpApiEndpoint.Success<E>

/** The statuses of an endpoint's successes. */
export type SuccessStatus<E> =
  SuccessOf<E> extends { readonly schema: infer S } ? (S extends Created ? 201 : 200) : 200

/** The bodies of an endpoint's successes, as they look on the wire. */
export type SuccessBody<E> = SuccessOf<E>["Type"]

/** The annotations of an endpoint: a line, a paragraph, and the rest. */
export const operation = (
  summary: string,
  description: string,
  docs: OperationDocs
): Context.Context<never> =>
  OpenApi.annotations({ summary, description }).pipe(Context.add(Docs, docs))
