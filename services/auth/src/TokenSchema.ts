/**
 * The GraphQL interface: one mutation, with the names and types of the platform whose clients call
 * it, and its errors. `Graphql.ts` runs the requests.
 * Source: docs/contract/authentication.md#the-token-mutation.
 */
import { buildSchema } from "graphql"
import type {
  Credential,
  ServiceTokens,
  TokenRefused
} from "@data-import/domain/access/ServiceToken"

export const schema = buildSchema(/* GraphQL */ `
  "Any JSON value."
  scalar GenericScalar

  "What proves who asks: exactly one of the two."
  input ObtainServiceTokenInput @oneOf {
    "The organisation's API key, as the operator issued it."
    APIKey: String
    "The refresh token that came with the last token. It is good for one use within 7 days."
    refreshToken: String
  }

  type ObtainServiceToken {
    "The access token, for the header 'Authorization: Token <ACCESS_TOKEN>'. It lives 60 minutes."
    token: String!
    "Exchanges for the next access token, once."
    refreshToken: String!
    "When the refresh token ends, in Unix seconds."
    refreshExpiresIn: Int!
    "The claims inside the access token."
    payload: GenericScalar!
  }

  type Query {
    "The version of this interface."
    version: String!
  }

  type Mutation {
    "Exchanges an API key or a refresh token for an access token. Once a request."
    obtainServiceToken(input: ObtainServiceTokenInput!): ObtainServiceToken
  }
`)

/** The refusals that a caller sees as a GraphQL error. */
type ShownRefusal = Exclude<TokenRefused, { readonly _tag: "ServiceUnavailable" }>

/** The `extensions` of a GraphQL error. `errorCode` is stable for ever. */
export interface ErrorExtensions {
  readonly errorType: "AUTHORIZATION" | "APPLICATION" | "VALIDATION"
  readonly errorCode: "INVALID_API_KEY" | "INVALID_REFRESH_TOKEN" | "THROTTLED" | "INVALID_REQUEST"
  readonly errorDescription: string
}

const descriptions: Record<ShownRefusal["_tag"], ErrorExtensions & { readonly message: string }> = {
  InvalidApiKey: {
    message: "Invalid API key.",
    errorType: "AUTHORIZATION",
    errorCode: "INVALID_API_KEY",
    errorDescription: "The API key is unknown, expired or revoked."
  },
  InvalidRefreshToken: {
    message: "Invalid refresh token.",
    errorType: "AUTHORIZATION",
    errorCode: "INVALID_REFRESH_TOKEN",
    errorDescription:
      "The refresh token is unknown, expired or used before, or its API key has ended. " +
      "Obtain a token with the API key."
  },
  Throttled: {
    message: "Too many failed attempts.",
    errorType: "APPLICATION",
    errorCode: "THROTTLED",
    errorDescription:
      "Too many attempts from this address have failed within a minute. " +
      "Send the request again after the seconds in Retry-After."
  }
}

const quotedKey =
  "The API key was sent with blanks or quotes, which no key has. Send it as it was issued."

/** The message and the extensions of the GraphQL error for a refusal. */
export const describeRefusal = (refusal: ShownRefusal) => {
  const { message, ...extensions } = descriptions[refusal._tag]
  return refusal._tag === "InvalidApiKey" && refusal.isQuoted
    ? { message, extensions: { ...extensions, errorDescription: quotedKey } }
    : { message, extensions }
}

/** What resolves the fields of the query and the mutation. */
export interface Resolvers {
  readonly version: string
  readonly obtainServiceToken: (args: { readonly input: Credential }) => Promise<ServiceTokens>
}
