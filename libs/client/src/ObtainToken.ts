/**
 * Exchanges the API key for an access token.
 * Source: docs/contract/authentication.md#the-token-mutation.
 */
import { Effect, Redacted, Schema } from "effect"
import { obtainTokenMutation } from "@data-import/api/TokenApi"
import type { Exchange } from "./Calls.ts"
import { tokenRefusedBy, UnexpectedAnswer } from "./Errors.ts"

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

/** A token of this key, in one attempt. */
export const obtainWith = (exchange: Exchange, apiKey: Redacted.Redacted) =>
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
    // The difference of the two does not depend on the clock of this computer.
    const { exp, iat } = obtained.payload
    return { token: obtained.token, milliseconds: (exp - iat) * 1_000 }
  })
