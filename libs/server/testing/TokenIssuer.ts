/**
 * Tokens like those of the auth service, for the tests of services that verify them: signed with a
 * key of the test, whose public half is in a file for the service to read.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigProvider, Context, DateTime, Duration, Effect, Layer } from "effect"
import { type ApiKey, ApiKeyId, OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { TokenSigner as Seal } from "@data-import/domain/access/TokenSigner"
import * as TokenKeys from "../src/auth/TokenKeys.ts"
import * as TokenSigner from "../src/auth/TokenSigner.ts"

export class TokenIssuer extends Context.Service<
  TokenIssuer,
  {
    /** The value of a service's setting JWKS_FILE. */
    readonly jwksFile: string
    /**
     * A token of this key with this lifetime, by default an hour; a negative one makes an expired
     * token.
     */
    readonly tokenOf: (key: ApiKey, lifetime?: Duration.Duration) => Effect.Effect<string>
    /** A token of this organisation and of a key that does not exist. */
    readonly tokenNaming: (
      organisation: string,
      lifetime?: Duration.Duration
    ) => Effect.Effect<string>
  }
>()("@data-import/server/testing/TokenIssuer") {}

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "data-import-keys-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const make = (folder: string) =>
  Effect.gen(function* () {
    const { published } = yield* TokenKeys.TokenKeys
    const { sign: seal } = yield* Seal
    const jwksFile = join(folder, "published")
    writeFileSync(jwksFile, JSON.stringify({ keys: yield* published }))
    const tokenOf = Effect.fnUntraced(function* (
      { id, organisation, scopes }: Pick<ApiKey, "id" | "organisation" | "scopes">,
      lifetime: Duration.Duration = Duration.hours(1)
    ) {
      const issuedAt = yield* DateTime.now
      const expiresAt = DateTime.addDuration(issuedAt, lifetime)
      const claims = { organisation, apiKey: id, scopes, issuedAt, expiresAt }
      return (yield* seal(claims)).token
    })
    return TokenIssuer.of({
      jwksFile,
      tokenOf,
      tokenNaming: (name, lifetime) => {
        const organisation = OrganisationName.make(name)
        return tokenOf({ id: ApiKeyId.make("key_1"), organisation, scopes: [] }, lifetime)
      }
    })
  })

/** An issuer with a fresh key, which is deleted when the layer ends. */
export const layer: Layer.Layer<TokenIssuer> = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) =>
    Layer.effect(TokenIssuer, make(folder)).pipe(
      Layer.provide(TokenSigner.layer.pipe(Layer.provideMerge(TokenKeys.layer))),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ TOKEN_KEYS_DIR: folder }))),
      Layer.orDie
    )
  )
)
