/**
 * The token mutation and the public keys, as far as the document describes them. A GraphQL server
 * serves the mutation, so the schemas are documentation only.
 * Source: docs/contract/authentication.md#the-token-mutation.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { anyBody, anywhere, errorBodies } from "./ErrorBody.ts"
import { operation } from "./Operation.ts"
import { IgnoresParameters } from "./Parameter.ts"

const free = Schema.Record(Schema.String, Schema.Json)

const GraphqlRequest = Schema.Struct({
  query: Schema.String.annotate({ description: "The GraphQL document." }),
  variables: Schema.optionalKey(
    Schema.NullOr(free).annotate({ description: "The values of the document's variables." })
  ),
  operationName: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({
      description: "Which operation to run, where the document has several."
    })
  )
}).annotate({ identifier: "GraphqlRequest", description: "A GraphQL request." })

const GraphqlError = Schema.Struct({
  message: Schema.String.annotate({ description: "For humans; the wording may change." }),
  extensions: Schema.Struct({
    errorType: Schema.Literals(["AUTHORIZATION", "APPLICATION", "VALIDATION"]).annotate({
      description: "What kind of error it is."
    }),
    errorCode: Schema.Literals([
      "INVALID_API_KEY",
      "INVALID_REFRESH_TOKEN",
      "THROTTLED",
      "INVALID_REQUEST"
    ]).annotate({
      description:
        "For machines, and stable for ever. THROTTLED: the address has failed too often; the answer " +
        "has Retry-After."
    }),
    errorDescription: Schema.String.annotate({
      description: "For humans; the wording may change."
    })
  }).annotate({ description: "The error, for machines." }),
  locations: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        line: Schema.Int.annotate({ description: "The line, from 1." }),
        column: Schema.Int.annotate({ description: "The column, from 1." })
      })
    ).annotate({ description: "Where in the document." })
  ),
  path: Schema.optionalKey(
    Schema.Array(Schema.Union([Schema.String, Schema.Int])).annotate({
      description: "Which field of the answer."
    })
  )
}).annotate({ identifier: "GraphqlError", description: "One GraphQL error." })

const GraphqlAnswer = Schema.Struct({
  data: Schema.optionalKey(
    Schema.NullOr(free).annotate({
      description:
        "`obtainServiceToken` with `token` (the access token), `refreshToken`, `refreshExpiresIn` " +
        "(Unix time of the refresh token's end) and `payload` (the claims); null on failure."
    })
  ),
  errors: Schema.optionalKey(
    Schema.Array(GraphqlError).annotate({ description: "Why there is no token." })
  )
}).annotate({ identifier: "GraphqlAnswer", description: "A GraphQL answer." })

const text = (description: string) => Schema.String.annotate({ description })

const JsonWebKeys = Schema.Struct({
  keys: Schema.Array(
    Schema.Struct({
      kty: text("The family of the key: OKP."),
      crv: text("The curve: Ed25519."),
      x: text("The public key, base64url."),
      kid: text("The name of the key, as in the header of a token."),
      alg: text("The algorithm: EdDSA."),
      use: text("What it is for: sig.")
    })
  ).annotate({ description: "One key, or two while they rotate." })
}).annotate({ identifier: "JsonWebKeys", description: "A JSON Web Key Set (RFC 7517)." })

/** The document of the mutation; its variable is the input, with one of both credentials. */
export const obtainTokenMutation =
  "mutation Obtain($input: ObtainServiceTokenInput!) { obtainServiceToken(input: $input) " +
  "{ token refreshToken refreshExpiresIn payload } }"

const tokens = {
  token: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJub3JkbHlzIn0.c2lnbmF0dXJl",
  refreshToken: "rt_Zl0b2tlbg",
  refreshExpiresIn: 1_745_528_651,
  payload: { sub: "nordlys", scope: "import:read import:write" }
}

const obtainServiceToken = HttpApiEndpoint.post("obtainServiceToken", "/v1/graphql/", {
  payload: GraphqlRequest,
  success: GraphqlAnswer,
  error: errorBodies(["request_failed_validation", ...anyBody, ...anywhere])
}).annotateMerge(
  operation(
    "Obtain a token",
    "GraphQL. The mutation `obtainServiceToken` takes exactly one of `APIKey` and `refreshToken` " +
      "and answers an access token of 60 minutes and a refresh token of 7 days. A refresh token is " +
      "good for one use. A refused key or token is a GraphQL error, with status 200. Needs no token.",
    {
      headers: { 200: { "Retry-After": "With THROTTLED only: how many seconds to wait." } },
      requests: {
        apiKey: {
          summary: "With an API key",
          value: { query: obtainTokenMutation, variables: { input: { APIKey: "sk_live_…" } } }
        },
        refreshToken: {
          summary: "With a refresh token",
          value: { query: obtainTokenMutation, variables: { input: { refreshToken: "rt_…" } } }
        }
      },
      answers: {
        200: {
          tokens: { summary: "Tokens", value: { data: { obtainServiceToken: tokens } } },
          refused: {
            summary: "A key that opens nothing",
            value: {
              data: { obtainServiceToken: null },
              errors: [
                {
                  message: "Invalid API key.",
                  extensions: {
                    errorType: "AUTHORIZATION",
                    errorCode: "INVALID_API_KEY",
                    errorDescription: "The API key is unknown, expired or revoked."
                  }
                }
              ]
            }
          }
        }
      }
    }
  )
)

const getSigningKeys = HttpApiEndpoint.get("getSigningKeys", "/.well-known/jwks.json", {
  success: JsonWebKeys,
  error: errorBodies([...anywhere])
})
  .annotate(IgnoresParameters, true)
  .annotateMerge(
    operation(
      "Public keys",
      "The keys that tokens are verified with. Needs no token. Query parameters are ignored.",
      {
        answers: {
          200: {
            keys: {
              summary: "One key",
              value: {
                keys: [
                  {
                    kty: "OKP",
                    crv: "Ed25519",
                    x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
                    kid: "2025-04",
                    alg: "EdDSA",
                    use: "sig"
                  }
                ]
              }
            }
          }
        }
      }
    )
  )

/** What the auth service serves. */
export const TokenGroup = HttpApiGroup.make("token", { topLevel: true })
  .add(obtainServiceToken, getSigningKeys)
  .annotateMerge(
    OpenApi.annotations({ title: "Tokens", description: "How to get an access token." })
  )
