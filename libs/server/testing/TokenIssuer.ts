/**
 * Tokens as the auth service gives them, for the tests of services that open them: sealed with a
 * key of the test's own, whose public half lies in a file for the service to read.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigProvider, Context, DateTime, Duration, Effect, Layer } from "effect"
import {
  type ApiKey,
  ApiKeyId,
  OrganisationName
} from "@data-import/domain/organisation/Organisation"
import { TokenSigner as Seal } from "@data-import/domain/ports/TokenSigner"
import * as TokenKeys from "../src/auth/TokenKeys.ts"
import * as TokenSigner from "../src/auth/TokenSigner.ts"

export class TokenIssuer extends Context.Service<
  TokenIssuer,
  {
    /** What the setting JWKS_FILE of a service names. */
    readonly jwksFile: string
    /** A token of this key for so long, an hour unless given; a negative time makes an old one. */
    readonly tokenOf: (key: ApiKey, lifetime?: Duration.Duration) => Effect.Effect<string>
    /** A token of this organisation and of a key that nobody has issued. */
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

/** A issue with a fresh key, which is gone when the layer ends. */
export const layer: Layer.Layer<TokenIssuer> = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) =>
    Layer.effect(TokenIssuer, make(folder)).pipe(
      Layer.provide(TokenSigner.layer.pipe(Layer.provideMerge(TokenKeys.layer))),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ TOKEN_KEYS_DIR: folder }))),
      Layer.orDie
    )
  )
)
