/** Certificates that a test has signed. */
import { Effect } from "effect"
import {
  calculateJwkThumbprint,
  CompactSign,
  type CompactJWSHeaderParameters,
  exportJWK,
  generateKeyPair
} from "jose"

/** What every certificate states beside its accounts. */
export const certificate = {
  certificate_id: "c-1",
  import_supplier: "DEMO_ENERGY",
  cohort: null,
  at: "2026-01-15T12:00:00Z",
  states: {},
  control_totals: null,
  erased: 0,
  reverted: 0,
  hash_recomputed: 0,
  version: 1,
  iss: "https://import.example.com",
  mode: "live",
  issued_by: { organisation: "demo", role: "admin", id: "u-1" },
  previous: null
}

/** A fresh key: signs, and is published. */
export const signing = Effect.promise(async () => {
  const { privateKey, publicKey } = await generateKeyPair("EdDSA", { extractable: true })
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  const sign = (payload: object, header: Partial<CompactJWSHeaderParameters> = {}) =>
    new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
      .setProtectedHeader({ alg: "EdDSA", typ: "data-import-certificate", kid, ...header })
      .sign(privateKey, { crit: { exp: true } })
  return { sign, jwk, keys: JSON.stringify({ keys: [{ kty: "RSA" }, { ...jwk, kid: "other" }] }) }
})
