/** Secrets from the operating system's random source, and their hashes. */
import { createHash, randomBytes } from "node:crypto"
import { Effect, Layer } from "effect"
import { TokenSecrets } from "@data-import/domain/access/TokenSigner"

export const layer: Layer.Layer<TokenSecrets> = Layer.succeed(TokenSecrets, {
  make: Effect.sync(() => randomBytes(32).toString("base64url")),
  hash: (secret) => Effect.sync(() => createHash("sha256").update(secret, "utf8").digest("hex"))
})
