/**
 * The keys that sign tokens: a folder of JWK files, one key a file. The file name without `.json`
 * is the id of the key, and the newest key by name signs. The folder is read on every call, so keys
 * rotate while the service runs. A new file is published at once, and signs once every service has
 * had time to fetch it. Remove the old file when its last token has expired, or at once if the key
 * must not be trusted any more.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Clock, Context, Duration, Effect, Layer } from "effect"
import * as Settings from "@data-import/domain/support/Settings"
import { type KeyFile, makeFolder, type PrivateKey } from "./KeyFolder.ts"
import type { PublicKey } from "./TokenFormat.ts"

/** The last by name that has been published for `delay`, otherwise the first. */
const signingKey = (
  files: ReadonlyArray<KeyFile>,
  now: number,
  delay: Duration.Duration
): KeyFile | undefined =>
  files.findLast((file) => file.publishedSince + Duration.toMillis(delay) <= now) ?? files[0]

export class TokenKeys extends Context.Service<
  TokenKeys,
  {
    /** The key that signs now. Dies if the folder has no usable key. */
    readonly signing: Effect.Effect<PrivateKey>
    /** Every public key, oldest name first. */
    readonly published: Effect.Effect<ReadonlyArray<PublicKey>>
  }
>()("@data-import/server/TokenKeys") {}

const keyDelay = Settings.duration("TOKEN_KEY_DELAY", { minimum: "0 seconds", maximum: "1 day" })

/**
 * Reads `TOKEN_KEYS_DIR`, and creates a key in it if it is empty. `TOKEN_KEY_DELAY` (60 seconds) is
 * how long a new key is published before it signs. Dies if the folder has no usable key.
 */
export const layer = Layer.effect(
  TokenKeys,
  Effect.gen(function* () {
    const directory = yield* Settings.text("TOKEN_KEYS_DIR").required
    const delay = yield* keyDelay.or(Duration.seconds(60))
    const folder = yield* makeFolder(directory)
    // File times are by this machine's clock, not by the database's.
    const local = yield* Clock.Clock

    const signing = Effect.gen(function* () {
      const now = yield* local.currentTimeMillis
      const file = signingKey(yield* folder.keys, now, delay)
      if (file === undefined) return yield* Effect.die(`There is no usable key in ${directory}`)
      return file.key
    })

    yield* folder.ensureKey
    yield* signing
    return TokenKeys.of({
      signing: Effect.orDie(signing),
      published: Effect.orDie(folder.keys).pipe(
        Effect.map((files) => files.map(({ key: { crv, kid, kty, x } }) => ({ kty, crv, x, kid })))
      )
    })
  })
).pipe(Layer.provide([NodeFileSystem.layer, NodePath.layer]))
