/** Signs certificates with a key of its own purpose, which no token verifier accepts. */
import { Context, type Effect } from "effect"
import type { Certificate } from "./Certificate.ts"
import type { CertificateKey } from "./Certificates.ts"

export class CertificateSigner extends Context.Service<
  CertificateSigner,
  {
    /** The `iss` of certificates. */
    readonly issuer: string
    /** The compact JWS of the certificate. */
    readonly sign: (certificate: Certificate) => Effect.Effect<string>
    /** All public keys that are at hand, past ones too. */
    readonly keys: Effect.Effect<ReadonlyArray<CertificateKey>>
  }
>()("@data-import/domain/ports/CertificateSigner") {}
