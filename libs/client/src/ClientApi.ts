/**
 * The contract as a client uses it: the endpoints of `libs/api`, and the types of their calls. A
 * request is sent as it is given, and only the service checks it, so that a client older or newer
 * than the service sees the same errors.
 */
import { Schema, type Stream } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Api } from "@data-import/api/Api"
import type { RequestCode } from "@data-import/domain/codes/Code"
import type { Open } from "./Answers.ts"
import type { CallError } from "./Errors.ts"

type Groups = typeof Api extends HttpApi.HttpApi<string, infer G> ? G : never

export type GroupName = HttpApiGroup.Identifier<Groups>

export type EndpointsOf<Name extends GroupName> = Extract<
  HttpApiGroup.Endpoints<HttpApiGroup.WithIdentifier<Groups, Name>>,
  HttpApiEndpoint.ConstraintRequest
>

type Part<Key extends string, Value> = [Value] extends [never]
  ? {}
  : {} extends Value
    ? { readonly [Name in Key]?: Value }
    : { readonly [Name in Key]: Value }

/**
 * Lines of a batch as they are sent. Bytes can be sent again by the client; a stream is sent once.
 */
export type Lines = Uint8Array | Stream.Stream<Uint8Array, unknown>

type PayloadOf<E extends HttpApiEndpoint.ConstraintRequest> =
  HttpApiEndpoint.Payload<E> extends infer P
    ? [P] extends [never]
      ? never
      : P extends HttpApiSchema.StreamNdjson<Schema.Top>
        ? Lines
        : P extends { readonly Type: infer Type }
          ? Type
          : never
    : never

/** The request of a call of an endpoint. */
export type RequestOf<E extends HttpApiEndpoint.ConstraintRequest> = Part<
  "params",
  HttpApiEndpoint.Params<E>["Type"]
> &
  Part<"query", HttpApiEndpoint.Query<E>["Type"]> &
  Part<"payload", PayloadOf<E>>

/** The codes with which an endpoint can refuse a request. */
export type CodeOf<E extends HttpApiEndpoint.ConstraintRequest> = Extract<
  HttpApiEndpoint.Error<E>["Type"] extends infer Body
    ? Body extends { readonly code: infer Code }
      ? Code
      : never
    : never,
  RequestCode
>

/** An answer without a body is undefined. */
type OrUndefined<T> = T extends void ? undefined : T

/** The result of a call of an endpoint. */
export type AnswerOf<E extends HttpApiEndpoint.ConstraintRequest> =
  HttpApiEndpoint.Success<E> extends infer S
    ? S extends HttpApiSchema.StreamNdjson<infer Line>
      ? Stream.Stream<Open<Line["Type"]>, CallError<CodeOf<E>>>
      : S extends { readonly Type: infer Type }
        ? Open<OrUndefined<Type>>
        : never
    : never

/** A body of text that is already encoded, because `JSON.stringify` is not always exact. */
const textPayload = HttpApiEndpoint.post("text", "/", {
  payload: Schema.String.pipe(HttpApiSchema.asText({ contentType: "application/json" }))
}).payload

const ndjson = { contentType: "application/x-ndjson" }

const streamPayload = HttpApiEndpoint.post("stream", "/", {
  payload: HttpApiSchema.StreamUint8Array(ndjson)
}).payload

const bytesPayload = HttpApiEndpoint.post("bytes", "/", {
  payload: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array(ndjson))
}).payload

/** Both payloads have the same media type. Only a server would have to choose between them. */
const linesPayload: HttpApiEndpoint.PayloadMap = new Map([
  ...[...streamPayload.values()].map((stream) => ["stream", stream] as const),
  ...[...bytesPayload.values()].map((bytes) => ["bytes", bytes] as const)
])

const isStream = ({ payload }: HttpApiEndpoint.Top): boolean =>
  [...payload.values()].some(({ encoding }) => encoding._tag === "Stream")

const bodyOf = (endpoint: HttpApiEndpoint.Top): HttpApiEndpoint.PayloadMap => {
  if (endpoint.payload.size === 0) return endpoint.payload
  return isStream(endpoint) ? linesPayload : textPayload
}

/** The endpoint with a body that is already encoded. */
const withEncodedBody = (endpoint: HttpApiEndpoint.Top): HttpApiEndpoint.Top =>
  Object.assign(endpoint.annotate(HttpApi.QueryParseOptions, { disableChecks: true }), {
    payload: bodyOf(endpoint)
  })

/** The definitions of the contract, group by group. */
export const groups = Object.values(
  Api.groups as unknown as Readonly<Record<string, HttpApiGroup.Top>>
).map(({ endpoints, identifier }) => ({
  name: identifier as GroupName,
  endpoints: Object.values(endpoints) as ReadonlyArray<HttpApiEndpoint.Top>
}))

/** The API from which the HTTP client is derived. */
export const ClientApi = groups.reduce<HttpApi.Top>(
  (api, { endpoints, name }) =>
    api.add(
      endpoints.reduce<HttpApiGroup.Top>(
        (group, endpoint) => group.add(withEncodedBody(endpoint)),
        HttpApiGroup.make(name, { topLevel: true }) as unknown as HttpApiGroup.Top
      )
    ),
  HttpApi.make("data-import") as unknown as HttpApi.Top
)
