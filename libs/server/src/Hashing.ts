/** The hash function of the programs, as Node has it. */
import { hash } from "node:crypto"
import { Layer } from "effect"
import { Hashing } from "@data-import/domain/requests/Hashing"

export const layer: Layer.Layer<Hashing> = Layer.succeed(Hashing, {
  sha256: (text) => hash("sha256", text, "hex"),
  digest: (bytes) => hash("sha256", bytes, "buffer")
})
