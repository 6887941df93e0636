/**
 * Reading the body of a POST in the contract's order: media type, size, the bytes themselves,
 * UTF-8, JSON. A body over the limit is refused from its announced length or at the first byte too
 * many, never after it was kept; one that stops arriving is refused in time. Source: decisions,
 * "Order of checks".
 */
import { Context, Effect, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { bodyBytes } from "@data-import/api/Limits"
import { PayloadTooLarge, RequestTimeout, UnsupportedMediaType } from "@data-import/api/Refusal"
import * as Json from "@data-import/domain/Json"
import * as Listener from "./Listener.ts"

type Refused = UnsupportedMediaType | PayloadTooLarge | RequestTimeout | Json.NotJson

/** How long a body may take: from one byte to the next, and as a whole. Milliseconds. */
export const BodyTimes = Context.Reference<{ readonly stall: number; readonly whole: number }>(
  "@data-import/server/BodyTimes",
  { defaultValue: () => ({ stall: 10_000, whole: 60_000 }) }
)

const mediaType = (header: string): string =>
  (header.split(";", 1)[0] as string).trim().toLowerCase()

/** What the headers alone refuse. */
const refusedByHeaders = (
  headers: Readonly<Record<string, string | undefined>>
): UnsupportedMediaType | PayloadTooLarge | undefined => {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? ""
  if (mediaType(headers["content-type"] ?? "") !== "application/json") {
    return new UnsupportedMediaType()
  }
  if (encoding !== "" && encoding !== "identity") return new UnsupportedMediaType()
  return Number(headers["content-length"] ?? 0) > bodyBytes ? new PayloadTooLarge() : undefined
}

/**
 * The bytes of the body, at most `bodyBytes`. It listens to Node's request itself: a stream of
 * Effect's costs more than the parsing, and has no clock that starts anew with each chunk.
 */
const readBytes = (
  request: HttpServerRequest.HttpServerRequest,
  times: { readonly stall: number; readonly whole: number }
): Effect.Effect<Buffer, PayloadTooLarge | RequestTimeout> =>
  Effect.callback((resume) => {
    const message = Listener.message(request)
    const chunks: Array<Buffer> = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > bodyBytes) return settle(Effect.fail(new PayloadTooLarge()))
      chunks.push(chunk)
      stall.refresh()
    }
    const onEnd = () =>
      settle(Effect.succeed(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    const onGone = () => settle(Effect.interrupt)
    const onLate = () => settle(Effect.fail(new RequestTimeout()))
    const stall = setTimeout(onLate, times.stall)
    const whole = setTimeout(onLate, times.whole)
    const stop = () => {
      clearTimeout(stall)
      clearTimeout(whole)
      message.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone)
    }
    const settle = (outcome: Effect.Effect<Buffer, PayloadTooLarge | RequestTimeout>) => {
      stop()
      message.pause()
      resume(outcome)
    }
    if (message.headers.expect?.toLowerCase() === "100-continue") {
      Listener.response(request).writeContinue()
    }
    message.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone)
    return Effect.sync(stop)
  })

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

/**
 * The JSON of the request's body, unchecked. Ends without an answer when the client goes away
 * before the body is complete.
 */
export const readJson = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<unknown, Refused> =>
  Effect.flatMap(BodyTimes, (times): Effect.Effect<unknown, Refused> => {
    const refused = refusedByHeaders(request.headers)
    if (refused !== undefined) return Effect.fail(refused)
    const bytes = Effect.interruptible(readBytes(request, times))
    return Effect.flatMap(bytes, (body) => Effect.fromResult(parse(body)))
  })
