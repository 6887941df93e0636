/**
 * Verifies the signed record of a certificate with the published keys alone, offline.
 * Source: RFC 7515, RFC 7638, RFC 8037.
 */
import { Effect, Schema } from "effect"
import {
  base64url,
  calculateJwkThumbprint,
  compactVerify,
  type CompactJWSHeaderParameters
} from "jose"
import { Certificate, certificateType } from "@data-import/domain/certificates/Certificate"
import { Refused } from "@data-import/terminal/Refused"
import { readText } from "../book/TextFile.ts"
import { reasonOf } from "../Reason.ts"

const PublicKey = Schema.Struct({
  kty: Schema.Literal("OKP"),
  crv: Schema.Literal("Ed25519"),
  x: Schema.String
})

/** Keys of other kinds are published for later algorithms, and are ignored. */
const KeySet = Schema.Struct({ keys: Schema.Array(Schema.Unknown) })

const decodeKeySet = Schema.decodeUnknownSync(Schema.fromJsonString(KeySet))
const isPublicKey = Schema.is(PublicKey)
const decodeCertificate = Schema.decodeUnknownSync(Schema.fromJsonString(Certificate))

export interface SignedCertificate {
  /** The thumbprint of the key that signed it. */
  readonly kid: string
  readonly certificate: Certificate
}

/** Selects the key by its thumbprint, so that no key set can give a key another name. */
const keyOf =
  (keys: ReadonlyArray<unknown>) =>
  async ({ crit, kid, typ }: CompactJWSHeaderParameters) => {
    if (typ !== certificateType) throw new Error(`its typ is not ${certificateType}`)
    if (crit !== undefined) throw new Error("it has crit, which certificates have not")
    for (const key of keys.filter(isPublicKey)) {
      if ((await calculateJwkThumbprint(key)) === kid) return { ...key, alg: "EdDSA" }
    }
    throw new Error("no published key has its kid")
  }

/**
 * Fails for a changed byte. Several spellings of a signature decode to the same bytes, so only the
 * canonical one is accepted.
 */
const verify = async (jws: string, keys: ReadonlyArray<unknown>): Promise<SignedCertificate> => {
  const { payload, protectedHeader } = await compactVerify(jws, keyOf(keys), {
    algorithms: ["EdDSA"]
  })
  const signature = jws.slice(jws.lastIndexOf(".") + 1)
  if (base64url.encode(base64url.decode(signature)) !== signature) {
    throw new Error("its signature is not canonical base64url")
  }
  const { kid = "" } = protectedHeader
  const text = new TextDecoder("utf-8", { fatal: true }).decode(payload)
  return { kid, certificate: decodeCertificate(text) }
}

/** Verifies a record. `name` says in a refusal which one it is. */
export const verifyCertificate = (
  name: string,
  jws: string,
  keys: ReadonlyArray<unknown>
): Effect.Effect<SignedCertificate, Refused> =>
  Effect.tryPromise({
    try: () => verify(jws, keys),
    catch: (error) =>
      new Refused({ why: `${name} is not a certificate of these keys: ${reasonOf(error)}.` })
  })

export const readKeys = (file: string): Effect.Effect<ReadonlyArray<unknown>, Refused> =>
  Effect.try({
    try: () => decodeKeySet(readText(file)).keys,
    catch: (error) =>
      new Refused({ why: `${file} is not a set of public keys (JWKS): ${reasonOf(error)}.` })
  })

export const readCertificate = Effect.fnUntraced(function* (file: string, keysFile: string) {
  const keys = yield* readKeys(keysFile)
  const jws = yield* Effect.try({
    try: () => readText(file).trim(),
    catch: (error) => new Refused({ why: `Cannot read ${file}: ${reasonOf(error)}.` })
  })
  return yield* verifyCertificate(file, jws, keys)
})
