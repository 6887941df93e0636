/**
 * How a service declares what it answers. A handler is tied to its endpoint's definition in
 * `@data-import/api`: path, method, scope and whether there is a caller and a body are taken from
 * there. A group without a handler for each of its endpoints does not compile, nor does a handler
 * whose status or body its endpoint does not declare.
 *
 *     export const routes = Effect.gen(function* () {
 *       const accountImport = yield* AccountImport
 *       const write = yield* writing
 *       return Route.handle(accountImportGroup, {
 *         validateAccount: ({ body, caller }) =>
 *           Effect.flatMap(accountImport.validate(caller, body), (account) =>
 *             Answer.success(validated(account))
 *           ),
 *         stageAccount: write(
 *           ({ body, caller, recorder }) => accountImport.stage(caller, body, recorder),
 *           ({ first, key }) => Answer.small(first ? 201 : 200, key)
 *         )
 *       })
 *     })
 *
 * These are plain routes, not `HttpApiBuilder` handlers, because the contract requires the token to
 * be checked before the method, and the Accept header, media type and size before the body is read,
 * in this order.
 */
import { Context, Effect, Fiber, Result, type Schema, type Scope as Lifetime } from "effect"
import type { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { type Protected, scopeOf } from "@data-import/api/Authorization"
import { bodyBytes } from "@data-import/api/Limits"
import {
  AlsoAnswers,
  keyRefusalOf,
  MethodsElsewhere,
  type SuccessBody,
  type SuccessStatus
} from "@data-import/api/Operation"
import { type Parameters, type ParametersOf, parametersOf } from "@data-import/api/Parameter"
import { ValidationFailed } from "@data-import/domain/requests/Failure"
import type { FieldError } from "@data-import/domain/schema/FieldErrors"
import type { Caller, Scope } from "@data-import/domain/suppliers/Organisation"
import { makeWorkBudget, type WorkBudget } from "@data-import/domain/requests/WorkBudget"
import type * as Answer from "../http/Answer.ts"
import type { Call } from "../http/IncomingRequest.ts"
import { Writing } from "./IdempotencyHeader.ts"
import * as JsonBody from "../http/JsonBody.ts"
import * as NdjsonBody from "../http/NdjsonBody.ts"

/**
 * One method of one path. A GET is interrupted when its client disconnects. Any other method runs
 * to its end.
 */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH"
  /** A template such as `/v1/data-import/limits/`, in which `:name` stands for one segment. */
  readonly path: `/${string}`
  /**
   * The scope that the token must have. `public` needs no token, and applies to all methods of a
   * path.
   */
  readonly access: Scope | "public"
  /** Methods of the path that another service answers. */
  readonly methodsElsewhere?: ReadonlyArray<string>
  /** Whether the answer is JSON, so that the Accept header must allow it. */
  readonly answersJson: boolean
  /** Whether a success is NDJSON, which the Accept header may name instead. */
  readonly answersNdjson?: boolean
  /** Media types of which a success may be instead. */
  readonly alsoAnswers?: ReadonlyArray<string>
  /** `caller` is undefined if the access is public. The body is not read yet. */
  readonly run: (call: Call, caller: Caller | undefined) => Answer.Answered
}

type WithCaller<E> = E extends Protected ? { readonly caller: Caller } : unknown

/** An endpoint whose body is NDJSON of any size. */
interface Upload {
  readonly method: "PUT"
  readonly "~Payload": HttpApiSchema.StreamNdjson<Schema.Top> | HttpApiSchema.StreamUint8Array
}

interface Write {
  readonly method: "POST" | "PATCH" | "PUT"
}

/**
 * The parsed JSON of a write, whose structure is not validated yet; null if the endpoint has no
 * body; one that is sent is ignored. The body of an upload arrives while the handler pulls it.
 */
type WithBody<E> = E extends Upload
  ? { readonly body: NdjsonBody.NdjsonBody }
  : E extends Write
    ? { readonly body: unknown }
    : unknown

/**
 * The query parameters that the endpoint defines. The handler of a write gets their errors, to
 * report them together with those of the body.
 */
interface WithParameters<E> {
  readonly parameters: E extends Upload
    ? ParametersOf<E>
    : E extends Write
      ? Parameters<E>
      : ParametersOf<E>
}

/** The success that an endpoint declares. */
type Declared<E> = Answer.Response<SuccessStatus<E>, SuccessBody<E>>

/** The implementation of one endpoint. */
type Handler<E> = (
  call: Call & WithCaller<E> & WithBody<E> & WithParameters<E>
) => Effect.Effect<Declared<E>, Answer.Refused, Lifetime.Scope>

type Implementation<E> = Handler<E> | Writing<SuccessStatus<E>, SuccessBody<E>>

/**
 * A handler for every endpoint of a group, by the endpoint's identifier; for those that take an
 * Idempotency-Key, one that is made with `writing`.
 */
export type Handlers<Endpoints extends HttpApiEndpoint.Constraint> = {
  readonly [Id in Endpoints["identifier"]]: Implementation<Extract<Endpoints, { identifier: Id }>>
}

/** The errors of parameters, to be reported with those of a body. */
export const parameterErrors = (parameters: Parameters<unknown>): ReadonlyArray<FieldError> =>
  Result.isFailure(parameters) ? parameters.failure : []

const refused = (errors: ReadonlyArray<FieldError>) =>
  new ValidationFailed({ code: "request_failed_validation", errors })

/** The parameters, or a refusal with their errors. */
export const orRefuse = <A>(
  parameters: Result.Result<A, ReadonlyArray<FieldError>>
): Effect.Effect<A, ValidationFailed> => Effect.fromResult(Result.mapError(parameters, refused))

type Plain = (call: Call & WithParameters<unknown>) => Answer.Answered

type AnyHandler = Plain | Writing<Answer.SuccessStatus, unknown>

/** A call whose body has arrived. The caller is undefined if the access is public. */
type Posted = Call & { readonly caller: Caller; readonly parameters: Parameters<unknown> }

type AnswerPost = (call: Posted, bytes: Buffer, json: unknown) => Answer.Answered

/** @throws when an endpoint takes an Idempotency-Key and its handler does not, or vice versa. */
const answerPost = (endpoint: HttpApiEndpoint.Top, handler: AnyHandler): AnswerPost => {
  const code = keyRefusalOf(endpoint)
  if (handler instanceof Writing && code !== null) {
    return (call, bytes, json) => handler.answer(call, { bytes, json }, code)
  }
  if (handler instanceof Writing || code !== null) {
    throw new Error(`${endpoint.identifier}: an Idempotency-Key needs a handler of \`writing\``)
  }
  return (call, _bytes, json) => handler({ ...call, ...{ body: json } })
}

interface Receiving {
  readonly limit: number
  readonly budget: WorkBudget
}

/** Nothing interrupts the handler. A client that disconnects breaks its body. */
const upload =
  (readParameters: ReturnType<typeof parametersOf>, handler: Plain): Route["run"] =>
  (call, caller) =>
    Effect.gen(function* () {
      const body = yield* NdjsonBody.read(call, caller?.organisation)
      const parameters = yield* orRefuse(readParameters(call.query))
      const uploaded = { ...call, ...(caller && { caller }), parameters, body }
      return yield* Fiber.join(yield* Effect.forkChild(handler(uploaded)))
    })

const isUpload = ({ payload }: HttpApiEndpoint.Top): boolean =>
  [...payload.values()].some(({ encoding }) => encoding._tag === "Stream")

const runOf = (
  endpoint: HttpApiEndpoint.Top,
  handler: AnyHandler,
  { budget, limit }: Receiving
): Route["run"] => {
  const readParameters = parametersOf(endpoint)
  if (isUpload(endpoint) && !(handler instanceof Writing)) {
    return upload(readParameters, handler)
  }
  if (endpoint.method === "GET" && !(handler instanceof Writing)) {
    return (call, caller) =>
      Effect.flatMap(orRefuse(readParameters(call.query)), (parameters) =>
        handler({ ...call, ...(caller && { caller }), parameters })
      )
  }
  const answer = answerPost(endpoint, handler)
  if (endpoint.payload.size === 0) {
    return (call, caller) =>
      Effect.flatMap(call.readBody(limit, caller?.organisation), (bytes) => {
        const posted = { ...call, caller, parameters: readParameters(call.query) } as Posted
        return answer(posted, bytes, null)
      })
  }
  return (call, caller) =>
    Effect.flatMap(JsonBody.read(call, limit, caller?.organisation), (bytes) => {
      const posted = { ...call, caller, parameters: readParameters(call.query) } as Posted
      return Effect.flatMap(JsonBody.parse(bytes), (json) => answer(posted, bytes, json)).pipe(
        budget(caller?.organisation ?? null, bytes.length)
      )
    })
}

const routeOf = (
  endpoint: HttpApiEndpoint.Top,
  handler: AnyHandler,
  receiving: Receiving
): Route => {
  const { method } = endpoint
  if (method !== "GET" && method !== "POST" && method !== "PUT" && method !== "PATCH") {
    throw new Error(`${endpoint.identifier}: no route for the method ${method}`)
  }
  return {
    method,
    path: endpoint.path as Route["path"],
    access: scopeOf(endpoint) ?? "public",
    methodsElsewhere: Context.get(endpoint.annotations, MethodsElsewhere),
    answersJson: true,
    answersNdjson: [...endpoint.success].some(
      (schema) => "mode" in schema && schema.mode === "ndjson"
    ),
    alsoAnswers: Object.keys(Context.get(endpoint.annotations, AlsoAnswers)),
    run: runOf(endpoint, handler, receiving)
  }
}

/** The routes of a group of endpoints; their bodies have at most `limit` bytes. */
export const handle = <Group extends HttpApiGroup.Constraint>(
  group: Group,
  handlers: Handlers<HttpApiGroup.Endpoints<Group>>,
  limit: number = bodyBytes
): ReadonlyArray<Route> => {
  const byName = handlers as Readonly<Record<string, AnyHandler>>
  const receiving = { limit, budget: makeWorkBudget() }
  return Object.values<HttpApiEndpoint.Top>(group.endpoints as never).map((endpoint) =>
    routeOf(endpoint, byName[endpoint.identifier] as AnyHandler, receiving)
  )
}
