/**
 * Parses bytes as strict UTF-8 and as JSON.
 * Source: docs/contract/http.md#json.
 */
import { Result } from "effect"
import type { Steps } from "../support/Steps.ts"
import { NotJson, parseInSteps } from "./Json.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decode = (bytes: Uint8Array): Result.Result<string, NotJson> => {
  try {
    return Result.succeed(utf8.decode(bytes))
  } catch {
    return Result.fail(new NotJson({ detail: "The body is not UTF-8." }))
  }
}

export function* parseBytesInSteps(bytes: Uint8Array): Steps<Result.Result<unknown, NotJson>> {
  const decoded = decode(bytes)
  if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
  const text = decoded.success
  yield
  return text.startsWith("\uFEFF")
    ? Result.fail(new NotJson({ detail: "The body starts with a byte-order mark." }))
    : yield* parseInSteps(text)
}
