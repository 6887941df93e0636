/**
 * Verifies tokens with public keys alone. The keys are fetched from where they are published when a
 * token names an unknown key, and from then on every half a minute in the background. So a token
 * costs no call, a new key is known before it signs, and a removed key ends soon. While the source
 * is unavailable, the cached keys stay in use, and their tokens do not wait for it.
 */
import {
  ByteSize,
  Clock,
  type Config,
  DateTime,
  Deferred,
  Duration,
  Effect,
  FiberHandle,
  FileSystem,
  Layer,
  Option,
  Result,
  Schema,
  Stream
} from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { type CryptoKey, decodeProtectedHeader, importJWK, jwtVerify } from "jose"
import {
  KeysUnavailable,
  TokenInvalid,
  TokenVerifier
} from "@data-import/domain/access/TokenSigner"
import * as Settings from "@data-import/domain/support/Settings"
import { toClaims, TokenPayload } from "@data-import/domain/access/AccessToken"
import { algorithm, issuer, KeySet, PublicKey, type } from "./TokenFormat.ts"
import { TokenKeys } from "./TokenKeys.ts"
import { traced } from "@data-import/domain/support/Traced"

/** Keys as they were fetched, not decoded yet. */
type Source = Effect.Effect<ReadonlyArray<unknown>, unknown>

const freshFor = Duration.seconds(30)
const cooldown = Duration.seconds(2)
const fetchTimeout = Duration.seconds(3)
const retryAfterSeconds = 2

/** A key takes some hundred bytes. Decoding more would block the process. */
const largestKeySet = ByteSize.kibibytes(64)

const decodePublicKey = Schema.decodeUnknownOption(PublicKey)
const decodePayload = Schema.decodeUnknownOption(TokenPayload)

const importKey = Effect.fnUntraced(function* (candidate: unknown) {
  const decoded = decodePublicKey(candidate)
  if (Option.isNone(decoded)) return []
  const { kid, ...jwk } = decoded.value
  // One key that is not usable must not keep the others from being used.
  const key = yield* Effect.option(Effect.tryPromise(() => importJWK(jwk, algorithm)))
  if (Option.isNone(key) || key.value instanceof Uint8Array) return []
  return [[kid, key.value] as const]
})

/**
 * The cached keys of a source, by id. A request waits for a fetch only if its key is unknown. A
 * fetch has a separate fiber, so it continues when the request that caused it ends.
 */
const makeKeys = Effect.fnUntraced(function* (source: Source) {
  const fetching = yield* FiberHandle.make<void, never>()
  const fetched = yield* Deferred.make<void>()
  let keys: ReadonlyMap<string, CryptoKey> = new Map()
  let fetchedAt = -Infinity

  const load = Effect.gen(function* () {
    const imported = yield* Effect.forEach(yield* source, importKey)
    if (imported.flat().length === 0) return yield* Effect.fail("no usable key is published")
    keys = new Map(imported.flat())
    yield* Deferred.succeed(fetched, undefined)
  })

  const fetch = load.pipe(
    Effect.catchCause((cause) =>
      Effect.logWarning("The public keys of tokens cannot be fetched", cause)
    ),
    Effect.ensuring(Effect.map(Clock.currentTimeMillis, (now) => void (fetchedAt = now)))
  )

  // Not on request, so that a removed key ends on time in an idle process as well, and so that no
  // request is logged as the cause.
  const refresh = FiberHandle.run(fetching, fetch, { onlyIfMissing: true }).pipe(
    Effect.delay(freshFor),
    Effect.forever
  )
  yield* Effect.forkScoped(Effect.andThen(Deferred.await(fetched), refresh))

  /** Fetches unless the last attempt, successful or not, ended less than the cooldown ago. */
  const fetchForRequest = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now < fetchedAt + Duration.toMillis(cooldown)) return
    yield* fetch
  })

  const fetchUnless = Effect.fnUntraced(function* (isKnown: () => boolean) {
    if (!isKnown()) {
      yield* FiberHandle.run(fetching, fetchForRequest, { onlyIfMissing: true })
      yield* FiberHandle.awaitEmpty(fetching)
    }
    if (keys.size === 0) return yield* new KeysUnavailable({ retryAfterSeconds })
  })

  return {
    keyOf: (kid: string) =>
      Effect.map(
        fetchUnless(() => keys.has(kid)),
        () => keys.get(kid)
      ),
    ready: fetchUnless(() => keys.size > 0)
  }
})

/** A token has one spelling. The decoder would accept padding and any unused bits. */
const isCanonical = (token: string): boolean =>
  token.split(".").every((part) => Buffer.from(part, "base64url").toString("base64url") === part)

/** The id of the key that the token names. Nothing is verified yet. */
const kidOf = (token: string): Result.Result<string, TokenInvalid> =>
  Result.try({
    try: () => decodeProtectedHeader(token).kid,
    catch: () => new TokenInvalid()
  }).pipe(
    Result.filterOrFail(
      (kid) => typeof kid === "string",
      () => new TokenInvalid()
    )
  )

const make = Effect.fnUntraced(function* (source: Source) {
  const iss = yield* issuer
  const { keyOf, ready } = yield* makeKeys(source)

  const verify = (token: string, key: CryptoKey, now: DateTime.Utc) =>
    Effect.tryPromise({
      try: () =>
        jwtVerify(token, key, {
          algorithms: [algorithm],
          typ: type,
          issuer: iss,
          requiredClaims: ["exp"],
          currentDate: DateTime.toDateUtc(now)
        }),
      catch: () => new TokenInvalid()
    })

  return TokenVerifier.of({
    ready,
    verify: traced("TokenVerifier.verify")(
      Effect.fnUntraced(function* (token) {
        if (!isCanonical(token)) return yield* new TokenInvalid()
        const kid = yield* Effect.fromResult(kidOf(token))
        const key = yield* keyOf(kid)
        if (key === undefined) return yield* new TokenInvalid()
        const { payload } = yield* verify(token, key, yield* DateTime.now)
        const decoded = decodePayload(payload)
        if (Option.isNone(decoded)) return yield* new TokenInvalid()
        return toClaims(decoded.value)
      })
    )
  })
})

const tooLarge = (): Stream.Stream<never, unknown> => Stream.fail("the key set is too large")

const decodeKeySet = Schema.decodeUnknownEffect(Schema.fromJsonString(KeySet))

/** Fetches from the first of these that answers. */
const fromUrls = (urls: ReadonlyArray<URL>) =>
  Effect.gen(function* () {
    const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
    const sources = urls.map((url) =>
      client.get(url).pipe(
        Effect.flatMap(({ stream }) =>
          stream.pipe(
            Stream.mapError((cause): unknown => cause),
            Stream.limitBytes(largestKeySet, tooLarge),
            Stream.decodeText,
            Stream.mkString
          )
        ),
        Effect.flatMap(decodeKeySet),
        Effect.map(({ keys }) => keys),
        Effect.timeout(fetchTimeout),
        // A redirect would let another server name the keys.
        Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" })
      )
    )
    return yield* make(Effect.firstSuccessOf(sources))
  }).pipe(Effect.provide(FetchHttpClient.layer))

const fromFile = (file: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    return yield* make(
      fs.readFileString(file).pipe(
        Effect.flatMap(decodeKeySet),
        Effect.map(({ keys }) => keys)
      )
    )
  }).pipe(Effect.provide(NodeFileSystem.layer))

/** Verifies the tokens that the keys of this process sign. */
export const layerTokenKeys: Layer.Layer<TokenVerifier, Config.ConfigError, TokenKeys> =
  Layer.effect(
    TokenVerifier,
    Effect.flatMap(TokenKeys, (keys) => make(keys.published))
  )

/** Fetches the keys from these instances of the auth service. */
export const layerAuth = (
  instances: ReadonlyArray<URL>
): Layer.Layer<TokenVerifier, Config.ConfigError> =>
  Layer.effect(
    TokenVerifier,
    fromUrls(instances.map((instance) => new URL("/.well-known/jwks.json", instance)))
  )

/**
 * Fetches the keys from `JWKS_URL`, or reads them from `JWKS_FILE` if there is no URL.
 * `TOKEN_ISSUER` (data-import) is the only `iss` that is accepted. The source may still be
 * unavailable at the start: `verify` fails with `KeysUnavailable` until the first fetch succeeds.
 */
export const layer: Layer.Layer<TokenVerifier, Config.ConfigError> = Layer.effect(
  TokenVerifier,
  Effect.gen(function* () {
    const url = yield* Settings.url("JWKS_URL", ["http:", "https:"]).optional
    return yield* Option.isSome(url)
      ? fromUrls([url.value])
      : fromFile(yield* Settings.text("JWKS_FILE").required)
  })
)
