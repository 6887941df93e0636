/**
 * A folder of Ed25519 keys as JWK files, one key a file. The file name without `.json` is the name
 * of the key. The folder is read on every call, so keys rotate while the service runs.
 */
import { randomBytes } from "node:crypto"
import { DateTime, Effect, FileSystem, Option, Path, type PlatformError, Schema } from "effect"
import { exportJWK, generateKeyPair, importJWK } from "jose"
import { algorithm, PublicKey } from "./TokenFormat.ts"

/** A key with its private half, `d`. */
export interface PrivateKey extends PublicKey {
  readonly d: string
}

export interface KeyFile {
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

export const makeFolder = Effect.fnUntraced(function* (folder: string) {
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
