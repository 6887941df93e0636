/** The hash function of the programs, as Node has it. */
import { hash } from "node:crypto"
import { Layer } from "effect"
import { Hashing } from "../../src/requests/Hashing.ts"

export const hashing: Hashing["Service"] = {
  sha256: (text) => hash("sha256", text, "hex"),
  digest: (bytes) => hash("sha256", bytes, "buffer")
}

export const layerMemory: Layer.Layer<Hashing> = Layer.succeed(Hashing, hashing)
