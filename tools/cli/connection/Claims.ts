/**
 * Whom a key acts for, as its token says. The service has just issued the token, so it is not
 * verified.
 * Source: docs/contract/authentication.md.
 */
import { Effect, Schema } from "effect"
import { DataImport } from "@data-import/client/effect"
import { Refused } from "@data-import/terminal/Refused"

const Claims = Schema.fromJsonString(Schema.Struct({ sub: Schema.String, scope: Schema.String }))

const decode = Schema.decodeEffect(Claims)

const unreadable = new Refused({ why: "The token of the service is not as documented." })

export const ownClaims = Effect.gen(function* () {
  const { token } = yield* DataImport
  const [, claims = ""] = (yield* token.accessToken()).split(".")
  const read = decode(Buffer.from(claims, "base64url").toString())
  const { scope, sub } = yield* Effect.mapError(read, () => unreadable)
  return { organisation: sub, scopes: scope.split(" ") }
})
