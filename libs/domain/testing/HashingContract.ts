/** The contract of `Hashing`, as tests that every adapter runs. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Hashing } from "../src/requests/Hashing.ts"

/** Vectors of FIPS 180-4, and lengths around the end of a block. */
const vectors: ReadonlyArray<readonly [text: string, hash: string]> = [
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
  ],
  ["€ Ærø \u{1F600}", "6775234a99abb79d2568ed392fdd3ade5d67c2ddb669f368d6ebd51d81e33cb6"],
  ["x".repeat(55), "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"],
  ["x".repeat(56), "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"],
  ["x".repeat(64), "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"],
  ["a".repeat(100_000), "6d1cf22d7cc09b085dfc25ee1a1f3ae0265804c607bc2074ad253bcc82fd81ee"]
]

/** Runs the suite on the layer. */
export const hashingContract = (name: string, layer: Layer.Layer<Hashing>): void => {
  describe(`Hashing, ${name}`, () => {
    it.effect.each(vectors)("hashes the UTF-8 bytes of the text %#", ([text, hash]) =>
      Effect.gen(function* () {
        const { digest, sha256 } = yield* Hashing
        expect(sha256(text)).toBe(hash)
        const bytes = digest(new TextEncoder().encode(text))
        expect(Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")).toBe(hash)
      }).pipe(Effect.provide(layer))
    )
  })
}
