/**
 * The keys that sign tokens: a folder of JWK files, one key a file. The file name without `.json`
 * is the id of the key, and the newest key by name signs. The folder is read on every call, so keys
 * rotate while the service runs. A new file is published at once, and signs once every service has
 * had time to fetch it. Remove the old file when its last token has expired, or at once if the key
 * must not be trusted any more.
 */
import { randomBytes } from "node:crypto"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Clock, Context, DateTime, Duration, Effect, FileSystem, Layer, Path } from "effect"
import { Option, type PlatformError, Schema } from "effect"
import { exportJWK, generateKeyPair, importJWK } from "jose"
import * as Settings from "@data-import/domain/support/Settings"
import { algorithm, PublicKey } from "./TokenFormat.ts"

/** A key with its private half, `d`. */
export interface PrivateKey extends PublicKey {
  readonly d: string
}

interface KeyFile {
  readonly key: PrivateKey
  readonly publishedSince: number
}

const PrivateJwk = Schema.Struct({
  kty: PublicKey.fields.kty,
  crv: PublicKey.fields.crv,
  x: Schema.String,
  d: Schema.String
})
const decodeKey = Schema.decodeUnknownOption(Schema.fromJsonString(PrivateJwk))

const extension = ".json"

const freshName = Effect.map(
  DateTime.now,
  (now) => `${DateTime.formatIso(now).replace(/[-:]|\.\d+/g, "")}-${randomBytes(4).toString("hex")}`
)

const makeFolder = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const names = Effect.map(fs.readDirectory(folder), (files) =>
    files
      .filter((file) => file.endsWith(extension) && !file.startsWith("."))
      .map((file) => file.slice(0, -extension.length))
      .sort()
  )

  const read = Effect.fnUntraced(function* (kid: string) {
    const file = path.join(folder, kid + extension)
    const decoded = decodeKey(yield* fs.readFileString(file))
    const isUsable = Effect.forEach(Option.toArray(decoded), (jwk) =>
      Effect.tryPromise(() => importJWK(jwk, algorithm))
    ).pipe(Effect.match({ onFailure: () => false, onSuccess: () => true }))
    if (Option.isNone(decoded) || !(yield* isUsable)) {
      yield* Effect.logWarning(`${file} is left out: it is not the JWK of an Ed25519 key pair`)
      return []
    }
    const changed = Option.map((yield* fs.stat(file)).mtime, (date) => date.getTime())
    return [{ key: { ...decoded.value, kid }, publishedSince: Option.getOrElse(changed, () => 0) }]
  })

  /** A file may be removed between the listing and the reading. */
  const readIfThere = (
    kid: string
  ): Effect.Effect<ReadonlyArray<KeyFile>, PlatformError.PlatformError> =>
    Effect.catchIf(
      read(kid),
      (error) => error.reason._tag === "NotFound",
      () => Effect.succeed([])
    )

  /** Written to a temporary file and renamed, so that no reader sees a partial key. */
  const createKey = Effect.gen(function* () {
    const { privateKey } = yield* Effect.promise(() =>
      generateKeyPair(algorithm, { crv: "Ed25519", extractable: true })
    )
    const { crv, d, kty, x } = yield* Effect.promise(() => exportJWK(privateKey))
    const name = yield* freshName
    const temporary = path.join(folder, `.${name}`)
    yield* fs.writeFileString(temporary, JSON.stringify({ kty, crv, x, d }), {
      mode: 0o600,
      flag: "wx"
    })
    yield* fs.rename(temporary, path.join(folder, name + extension))
  })

  return {
    ensureKey: Effect.gen(function* () {
      yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
      if ((yield* names).length === 0) yield* createKey
    }),
    keys: Effect.flatMap(names, Effect.forEach(readIfThere)).pipe(
      Effect.map((files) => files.flat())
    )
  }
})

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
