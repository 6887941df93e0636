/** Vectors of FIPS 180-4, and a text outside of ASCII. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { layer } from "../src/Hashing.ts"

const vectors: ReadonlyArray<readonly [text: string, hash: string]> = [
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  ["€ Ærø \u{1F600}", "6775234a99abb79d2568ed392fdd3ade5d67c2ddb669f368d6ebd51d81e33cb6"]
]

describe("Hashing by Node", () => {
  it.effect.each(vectors)("hashes the UTF-8 bytes of the text %#", ([text, hash]) =>
    Effect.gen(function* () {
      const { digest, sha256 } = yield* Hashing
      expect(sha256(text)).toBe(hash)
      expect(Buffer.from(digest(Buffer.from(text))).toString("hex")).toBe(hash)
    }).pipe(Effect.provide(layer))
  )
})
