/** The hash function, which the platform computes much faster than a program could. */
import { Context } from "effect"

export class Hashing extends Context.Service<
  Hashing,
  {
    /** SHA-256 of the UTF-8 text, in lower-case hexadecimal. */
    readonly sha256: (text: string) => string
  }
>()("@data-import/domain/ports/Hashing") {}
