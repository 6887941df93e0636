/** The hash function, a port because the platform computes it much faster than a program. */
import { Context } from "effect"

export class Hashing extends Context.Service<
  Hashing,
  {
    /** SHA-256 of the UTF-8 text, in lower-case hexadecimal. */
    readonly sha256: (text: string) => string

    /** SHA-256 of the bytes, as 32 bytes. */
    readonly digest: (bytes: Uint8Array) => Uint8Array
  }
>()("@data-import/domain/ports/Hashing") {}
