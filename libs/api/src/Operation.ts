/**
 * What the document states about an operation beyond its schemas: examples, and parameters, which
 * reach the handlers as text. It is an annotation of the endpoint, so that an operation is
 * documented where it is defined.
 */
import { Context, Schema } from "effect"
import { type HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import type { ValidationFailed } from "@data-import/domain/requests/Failure"

export interface Example {
  readonly summary: string
  readonly value: unknown
}

export interface ParameterDocs {
  readonly description: string
  /** JSON Schema of the value of the parameter. */
  readonly schema: Readonly<Record<string, unknown>>
  readonly example: unknown
}

export interface OperationDocs {
  readonly parameters?: Readonly<Record<string, ParameterDocs>>
  /** Headers of the request, besides those that every operation has. */
  readonly requestHeaders?: Readonly<Record<string, ParameterDocs>>
  readonly requests?: Readonly<Record<string, Example>>
  /** By status. */
  readonly answers?: Readonly<Record<number, Readonly<Record<string, Example>>>>
  /**
   * Headers of the responses by status. Headers of all responses are added to the whole document.
   */
  readonly headers?: Readonly<Record<number, Readonly<Record<string, string>>>>
}

export const Docs = Context.Reference<OperationDocs>("@data-import/api/Docs", {
  defaultValue: () => ({})
})

/**
 * Marks an endpoint that accepts an Idempotency-Key, with the code of the refusal of an invalid
 * key. Other endpoints ignore the header.
 */
export const KeyRefusal = Context.Reference<ValidationFailed["code"] | null>(
  "@data-import/api/KeyRefusal",
  { defaultValue: () => null }
)

/** Methods of the endpoint's path that another service answers, for `Allow`. */
export const MethodsElsewhere = Context.Reference<ReadonlyArray<string>>(
  "@data-import/api/MethodsElsewhere",
  { defaultValue: () => [] }
)

/** Media types of text that a success has if the request prefers one, each with an example. */
export const AlsoAnswers = Context.Reference<Readonly<Record<string, string>>>(
  "@data-import/api/AlsoAnswers",
  { defaultValue: () => ({}) }
)

/** The code with which the endpoint refuses an invalid Idempotency-Key; null if it accepts none. */
export const keyRefusalOf = (endpoint: HttpApiEndpoint.Top): ValidationFailed["code"] | null =>
  Context.get(endpoint.annotations, KeyRefusal)

/** The type of a success schema whose status is not 200. */
export interface HasStatus<Status> {
  readonly "~status": Status
}

/** Unlike `HttpApiSchema.status`, it keeps the status in the type. */
const withStatus =
  <const Status extends 201 | 202 | 304>(status: Status) =>
  <S extends Schema.Top>(schema: S): S & HasStatus<Status> =>
    HttpApiSchema.status(status)<Schema.Top>(schema) as S & HasStatus<Status>

/** A success with status 201. */
export const created = withStatus(201)

/** A success with status 202: the work goes on. */
export const accepted = withStatus(202)

/** The answer without a body to a condition that does not hold. */
export const notModified = withStatus(304)(Schema.Void.annotate({ description: "Not modified." }))

type SuccessOf<E> = HttpApiEndpoint.Success<E>

/** The statuses of an endpoint's successes. */
export type SuccessStatus<E> =
  SuccessOf<E> extends { readonly schema: infer S }
    ? S extends HasStatus<infer Status>
      ? Status
      : 200
    : 200

/** The bodies of an endpoint's successes in their wire form. */
export type SuccessBody<E> = SuccessOf<E>["Type"]

/** The annotations of an endpoint: summary, description and the rest. */
export const operation = (
  summary: string,
  description: string,
  docs: OperationDocs
): Context.Context<never> =>
  OpenApi.annotations({ summary, description }).pipe(Context.add(Docs, docs))
