/**
 * Runs one GraphQL request. Whatever the request got wrong is a GraphQL error, with status 200;
 * only what went wrong here leaves as a failure, for the envelope that all endpoints share. A
 * document is small and asks for one token, so that it can neither try many keys at once nor keep
 * the service busy, and it is never cached, since a key can stand in it.
 */
import { type Cause, Effect, Exit, Result, type Schema } from "effect"
import { createYoga } from "graphql-yoga"
import type { ServiceUnavailable } from "@data-import/domain/requests/Failure"
import type { Credential, ServiceTokens, TokenRefused } from "@data-import/domain/auth/ServiceToken"
import { limits } from "./DocumentLimits.ts"
import {
  errorOf,
  type ErrorExtensions,
  schema,
  type TokenContext,
  type Told
} from "./TokenSchema.ts"

const path = "/v1/graphql/"

const yoga = createYoga<TokenContext>({
  schema,
  graphqlEndpoint: path,
  plugins: [limits],
  batching: false,
  cors: false,
  graphiql: false,
  landingPage: false,
  logging: false,
  multipart: false,
  parserAndValidationCache: false
})

const requestOf = (body: unknown): Request =>
  new Request(`http://localhost${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body)
  })

interface WrittenError {
  readonly message: string
  readonly extensions?: Partial<ErrorExtensions>
}

interface TidyError extends WrittenError {
  readonly extensions: ErrorExtensions
}

const longestMessage = 500

/**
 * The server quotes the values of variables in its messages, however long they are; what looks like
 * a secret is left out.
 */
const withoutSecrets = (message: string): string => {
  const told = message.replace(/\b(sk_|rt_|eyJ)[\w.-]+/g, "$1…")
  return told.length > longestMessage ? `${told.slice(0, longestMessage)}…` : told
}

const tidy = (error: WrittenError): TidyError => {
  if (error.extensions?.errorCode !== undefined) return error as TidyError
  const message = withoutSecrets(error.message)
  const extensions: ErrorExtensions = {
    errorType: "VALIDATION",
    errorCode: "INVALID_REQUEST",
    errorDescription: message
  }
  return { ...error, message, extensions }
}

interface WrittenAnswer {
  readonly data?: Schema.JsonObject | null
  readonly errors?: ReadonlyArray<WrittenError>
}

type Obtain = (credential: Credential) => Effect.Effect<ServiceTokens, TokenRefused>

/** Parts what the caller is told from what went wrong here. */
const told = (attempt: ReturnType<Obtain>) => {
  const tell = (refusal: Told) => Effect.succeed(Result.fail(refusal))
  return attempt.pipe(
    Effect.map(Result.succeed),
    Effect.catchTags({ InvalidApiKey: tell, InvalidRefreshToken: tell, Throttled: tell })
  )
}

/** What became of the mutation beside its GraphQL result. */
interface Outcome {
  retryAfterSeconds: number | null
  broken: Cause.Cause<ServiceUnavailable> | null
}

/**
 * Runs the GraphQL request `body`; `obtain` is what the mutation does. The result is the body of
 * the answer, and for how long an address that is throttled must wait, otherwise null.
 */
export const run = Effect.fnUntraced(function* (body: unknown, obtain: Obtain) {
  const context = yield* Effect.context<never>()
  const outcome: Outcome = { retryAfterSeconds: null, broken: null }

  const tokenContext: TokenContext = {
    obtain: async (credential) => {
      const exit = await Effect.runPromiseExitWith(context)(told(obtain(credential)))
      if (Exit.isFailure(exit)) {
        outcome.broken = exit.cause
        throw new Error("This answer is never sent")
      }
      if (Result.isSuccess(exit.value)) return exit.value.success
      const refusal = exit.value.failure
      if (refusal._tag === "Throttled") outcome.retryAfterSeconds = refusal.retryAfterSeconds
      throw errorOf(refusal)
    }
  }

  const response = yield* Effect.promise(async () => yoga.fetch(requestOf(body), tokenContext))
  const { errors, ...rest } = yield* Effect.promise(() => response.json() as Promise<WrittenAnswer>)
  const { broken, retryAfterSeconds } = outcome
  if (broken !== null) return yield* Effect.failCause(broken)
  const tidied = errors === undefined ? rest : { errors: errors.map(tidy), ...rest }
  return { body: tidied, retryAfterSeconds }
})
