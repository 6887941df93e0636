/** Key folders that live as long as a test, and the adapters that use them. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import * as TokenVerifier from "../src/auth/TokenVerifier.ts"
import * as TokenSigner from "../src/auth/TokenSigner.ts"
import { layer } from "../src/auth/TokenKeys.ts"

/** Settings, in place of the environment. */
export const settings = (values: Readonly<Record<string, string>>) =>
  ConfigProvider.layer(ConfigProvider.fromUnknown(values))

/** An empty folder. */
export const freshFolder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  fs.makeTempDirectoryScoped({ prefix: "token-keys-" })
).pipe(Effect.provide(NodeFileSystem.layer))

/** The keys of a folder. */
export const keysIn = (folder: string, values: Readonly<Record<string, string>> = {}) =>
  layer.pipe(Layer.provide(settings({ TOKEN_KEYS_DIR: folder, ...values })))

/** A signer and a verifier with one fresh key. */
export const freshTokens = Layer.mergeAll(TokenSigner.layer, TokenVerifier.layerTokenKeys).pipe(
  Layer.provideMerge(Layer.unwrap(Effect.map(freshFolder, (folder) => keysIn(folder)))),
  Layer.provide(settings({}))
)
