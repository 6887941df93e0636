/** The hash function of entries and trees, as Node has it. */
import { hash } from "node:crypto"
import type { Hashing } from "@data-import/domain/requests/Hashing"

export const hashing: Hashing["Service"] = {
  sha256: (text) => hash("sha256", text, "hex"),
  digest: (bytes) => hash("sha256", bytes, "buffer")
}
