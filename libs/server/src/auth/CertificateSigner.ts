/**
 * Signs certificates as JWS by Ed25519. The keys are in a folder of their own; the newest by name
 * signs, and past ones stay there, so that they are backed up with it. `typ` and `kid`, the
 * thumbprint (RFC 7638), let nobody take a certificate for a token.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Effect, Layer } from "effect"
import { calculateJwkThumbprint, CompactSign, importJWK } from "jose"
import { type Certificate, certificateType } from "@data-import/domain/certificates/Certificate"
import { CertificateSigner } from "@data-import/domain/certificates/CertificateSigner"
import { makeFolder, type PrivateKey } from "./KeyFolder.ts"
import { algorithm, issuer } from "./TokenFormat.ts"

const kidOf = ({ crv, kty, x }: PrivateKey) =>
  Effect.promise(() => calculateJwkThumbprint({ kty, crv, x }))

const sign = Effect.fnUntraced(function* (certificate: Certificate, key: PrivateKey) {
  const { crv, d, kty, x } = key
  const header = { alg: algorithm, typ: certificateType, kid: yield* kidOf(key) }
  const payload = new TextEncoder().encode(JSON.stringify(certificate))
  return yield* Effect.promise(async () =>
    new CompactSign(payload)
      .setProtectedHeader(header)
      .sign(await importJWK({ kty, crv, x, d }, algorithm))
  )
})

/** Creates a key in the folder if it is empty. Dies if the folder has no usable key. */
export const layerAt = (directory: string) =>
  Layer.effect(
    CertificateSigner,
    Effect.gen(function* () {
      const folder = yield* makeFolder(directory)
      yield* folder.ensureKey
      const keys = Effect.orDie(Effect.map(folder.keys, (files) => files.map(({ key }) => key)))
      const signing = Effect.flatMap(keys, (all) => {
        const key = all.at(-1)
        return key === undefined
          ? Effect.die(`There is no usable key in ${directory}`)
          : Effect.succeed(key)
      })
      yield* signing
      return CertificateSigner.of({
        issuer: yield* issuer,
        sign: (certificate) => Effect.flatMap(signing, (key) => sign(certificate, key)),
        keys: Effect.flatMap(
          keys,
          Effect.forEach((key) => Effect.map(kidOf(key), (kid) => ({ kid, x: key.x })))
        )
      })
    })
  ).pipe(Layer.provide([NodeFileSystem.layer, NodePath.layer]))
