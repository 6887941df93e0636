/**
 * Runs one GraphQL request. Errors of the request are GraphQL errors, with status 200. Only
 * failures of the service leave as failures, for the envelope that all endpoints share. The request
 * is small and asks for one token, so it can neither try many keys at once nor keep the service
 * busy. It is never cached, because it may contain a key.
 */
import { Cause, Effect, Exit, Result, type Schema } from "effect"
import { type DocumentNode, execute, type ExecutionResult, GraphQLError, validate } from "graphql"
import type { ServiceUnavailable } from "@data-import/domain/requests/Failure"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import type {
  Credential,
  ServiceTokens,
  TokenRefused
} from "@data-import/domain/access/ServiceToken"
import * as GraphqlLimits from "./GraphqlLimits.ts"
import { decodeRequest, type GraphqlRequest } from "./GraphqlRequest.ts"
import { describeRefusal, type ErrorExtensions, type Resolvers, schema } from "./TokenSchema.ts"

type Obtain = (credential: Credential) => Effect.Effect<ServiceTokens, TokenRefused>

/** Carries the failure of the mutation through the executor, which knows promises only. */
class ObtainFailed extends Error {
  override readonly cause: Cause.Cause<TokenRefused>

  constructor(cause: Cause.Cause<TokenRefused>) {
    super("The mutation failed")
    this.cause = cause
  }
}

interface ErrorBody {
  readonly message: string
  readonly locations?: ReadonlyArray<{ readonly line: number; readonly column: number }>
  readonly path?: ReadonlyArray<string | number>
  readonly extensions: ErrorExtensions
}

const longestMessage = 500

/** Messages quote the values of variables, however long they are, and a value may be a secret. */
const withoutSecrets = (message: string): string => {
  const redacted = message.replace(/\b(sk_|rt_|eyJ)[\w.-]+/g, "$1…")
  return redacted.length > longestMessage ? `${redacted.slice(0, longestMessage)}…` : redacted
}

const invalidRequest = (quoting: string): Pick<ErrorBody, "message" | "extensions"> => {
  const message = withoutSecrets(quoting)
  const errorCode = "INVALID_REQUEST"
  return { message, extensions: { errorType: "VALIDATION", errorCode, errorDescription: message } }
}

/** The error as it is answered, with its location in the document. */
const bodyOf = (error: GraphQLError, described: Pick<ErrorBody, "message" | "extensions">) =>
  ({ ...error.toJSON(), ...described }) as unknown as ErrorBody

const parse = (query: string): Result.Result<DocumentNode, GraphQLError> => {
  try {
    return Result.succeed(GraphqlLimits.parse(query))
  } catch (error) {
    if (error instanceof GraphQLError) return Result.fail(error)
    throw error
  }
}

/** The result of the request, or the errors for which it is not executed. */
const resultOf = async (
  { operationName, query, variables }: GraphqlRequest,
  resolvers: Resolvers
): Promise<Pick<ExecutionResult, "data" | "errors">> => {
  const document = parse(query)
  if (Result.isFailure(document)) return { errors: [document.failure] }
  const errors = validate(schema, document.success, GraphqlLimits.rules)
  if (errors.length > 0) return { errors }
  const refused = GraphqlLimits.refusalOfVariables(variables)
  if (refused !== undefined) return { errors: [refused] }
  return execute({
    schema,
    document: document.success,
    rootValue: resolvers,
    variableValues: variables,
    operationName
  })
}

/**
 * Runs the GraphQL request `body`; `obtain` implements the mutation. The result is the body of the
 * answer, and how long a throttled address must wait, otherwise null.
 */
export const run = Effect.fnUntraced(function* (body: unknown, obtain: Obtain) {
  const request = decodeRequest(body)
  if (Result.isFailure(request)) {
    const error = invalidRequest(request.failure)
    yield* RequestFacts.note({ code: error.extensions.errorCode })
    return { body: { errors: [error] }, retryAfterSeconds: null }
  }
  const context = yield* Effect.context<never>()
  const resolvers: Resolvers = {
    version: "v1",
    obtainServiceToken: async ({ input }) => {
      const exit = await Effect.runPromiseExitWith(context)(obtain(input))
      if (Exit.isSuccess(exit)) return exit.value
      throw new ObtainFailed(exit.cause)
    }
  }
  const { errors = [], ...rest } = yield* Effect.promise(() => resultOf(request.success, resolvers))
  let retryAfterSeconds: number | null = null
  const bodies: Array<ErrorBody> = []
  for (const error of errors.slice(0, GraphqlLimits.maxErrors)) {
    if (!(error.originalError instanceof ObtainFailed)) {
      bodies.push(bodyOf(error, invalidRequest(error.message)))
      continue
    }
    const { cause } = error.originalError
    const refused = Result.getOrUndefined(Cause.findError(cause))
    if (refused === undefined || refused._tag === "ServiceUnavailable") {
      return yield* Effect.failCause(cause as Cause.Cause<ServiceUnavailable>)
    }
    if (refused._tag === "Throttled") retryAfterSeconds = refused.retryAfterSeconds
    bodies.push(bodyOf(error, describeRefusal(refused)))
  }
  yield* RequestFacts.note({ code: bodies[0]?.extensions.errorCode })
  const data = rest as { readonly data?: Schema.JsonObject | null }
  return { body: bodies.length === 0 ? data : { errors: bodies, ...data }, retryAfterSeconds }
})
