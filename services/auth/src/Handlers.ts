/** Tokens and the keys to verify them with over HTTP. */
import { Effect } from "effect"
import { tokenBodyBytes } from "@data-import/api/Limits"
import { TokenGroup } from "@data-import/api/TokenApi"
import { ServiceToken } from "@data-import/domain/access/ServiceToken"
import * as Answer from "@data-import/server/http/Answer"
import * as Route from "@data-import/server/routing/Route"
import { algorithm } from "@data-import/server/auth/TokenFormat"
import { TokenKeys } from "@data-import/server/auth/TokenKeys"
import { networkOf } from "@data-import/server/http/ClientNetwork"
import * as Graphql from "./Graphql.ts"

const retryAfter = (seconds: number | null) =>
  seconds === null ? {} : { "retry-after": String(seconds) }

/** Shorter than the delay before a new key signs, so that caches learn of it in time. */
const cacheHeaders = { "cache-control": "public, max-age=30" }

export const routes = Effect.gen(function* () {
  const serviceToken = yield* ServiceToken
  const keys = yield* TokenKeys

  return Route.handle(
    TokenGroup,
    {
      obtainServiceToken: ({ body, clientAddress, parameters }) =>
        Route.orRefuse(parameters).pipe(
          Effect.andThen(
            Graphql.run(body, (credential) =>
              serviceToken.obtain(credential, networkOf(clientAddress))
            )
          ),
          Effect.map(({ body, retryAfterSeconds }) =>
            Answer.json(200, body, retryAfter(retryAfterSeconds))
          )
        ),
      getSigningKeys: () =>
        Effect.map(keys.published, (published) =>
          Answer.json(
            200,
            { keys: published.map((key) => ({ ...key, alg: algorithm, use: "sig" })) },
            cacheHeaders
          )
        )
    },
    tokenBodyBytes
  )
})
