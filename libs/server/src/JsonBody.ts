/**
 * Reading the body of a POST in the contract's order: media type, size, the bytes themselves,
 * UTF-8, JSON. Source: decisions, "Order of checks".
 */
import { Effect, Result } from "effect"
import { UnsupportedMediaType } from "@data-import/api/Refusal"
import * as Json from "@data-import/domain/Json"
import type { Arrival } from "./Dispatch.ts"
import type { BodyRefused } from "./RequestBody.ts"

type Refused = UnsupportedMediaType | BodyRefused | Json.NotJson

const mediaType = (header: string): string =>
  (header.split(";", 1)[0] as string).trim().toLowerCase()

/** Whether the headers announce JSON that is not encoded. */
const announcesJson = (headers: Readonly<Record<string, string | undefined>>): boolean => {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? ""
  const isJson = mediaType(headers["content-type"] ?? "") === "application/json"
  return isJson && (encoding === "" || encoding === "identity")
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decode = (bytes: Buffer): Result.Result<string, Json.NotJson> => {
  try {
    return Result.succeed(utf8.decode(bytes))
  } catch {
    return Result.fail(new Json.NotJson({ detail: "The body is not UTF-8." }))
  }
}

/** Parses bytes as the contract takes them: strict UTF-8 and `Json.parse`. */
export const parse = (bytes: Buffer): Result.Result<unknown, Json.NotJson> =>
  Result.flatMap(decode(bytes), (text) =>
    text.startsWith("\uFEFF")
      ? Result.fail(new Json.NotJson({ detail: "The body starts with a byte-order mark." }))
      : Json.parse(text)
  )

/** A body as it was sent, and its JSON, unchecked. */
export interface Body {
  readonly bytes: Buffer
  readonly json: unknown
}

/** The request's body of at most `limit` bytes. */
export const readBody = (
  { readBody, request }: Pick<Arrival, "readBody" | "request">,
  limit: number
): Effect.Effect<Body, Refused> =>
  announcesJson(request.headers)
    ? Effect.flatMap(readBody(limit), (bytes) =>
        Effect.fromResult(Result.map(parse(bytes), (json) => ({ bytes, json })))
      )
    : Effect.fail(new UnsupportedMediaType())

/** The JSON of the request's body of at most `limit` bytes. */
export const readJson = (
  arrival: Pick<Arrival, "readBody" | "request">,
  limit: number
): Effect.Effect<unknown, Refused> => Effect.map(readBody(arrival, limit), ({ json }) => json)
