/**
 * Files that a service publishes from memory. Each is encoded and compressed once, so that all
 * connections send the same bytes: otherwise each connection would hold megabytes. Browsers
 * revalidate with the ETag and get a 304.
 */
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Route } from "./Route.ts"

export interface File {
  readonly path: Route["path"]
  readonly text: string | Uint8Array
  readonly contentType: string
  /** 200 unless given. */
  readonly status?: number
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

const compressed = promisify(gzip)

const hashLength = 16

/** The first digits of the SHA-256 of a text. */
export const hashOf = (text: string | Uint8Array): string =>
  createHash("sha256").update(text).digest("hex").slice(0, hashLength)

const common = {
  "cache-control": "public, max-age=300",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  vary: "Accept-Encoding"
}

/** For a file whose path changes with its content. */
export const forEver = { "cache-control": "public, max-age=31536000, immutable" }

/** Whether a range of Accept-Encoding (RFC 9110, 12.5.3) is gzip with a weight above zero. */
const isGzip = (range: string): boolean =>
  /^\s*(?:x-)?gzip\s*(?:;\s*q=(?:1(?:\.0{0,3})?|0?\.\d*[1-9]\d*)\s*)?$/i.test(range)

const takesGzip = (accepted: string | undefined): boolean =>
  accepted !== undefined && accepted.split(",").some(isGzip)

/** Weak comparison (RFC 9110, 13.1.2). */
const isKnown = (etag: string, ifNoneMatch: string | undefined): boolean =>
  ifNoneMatch !== undefined &&
  ifNoneMatch.split(",").some((known) => ["*", etag].includes(known.trim().replace(/^W\//, "")))

interface Representation {
  readonly etag: string
  readonly answer: HttpServerResponse.HttpServerResponse
  readonly unchanged: HttpServerResponse.HttpServerResponse
}

const representation = (
  { contentType, headers, status = 200 }: File,
  bytes: Uint8Array,
  etag: string,
  encoding: Readonly<Record<string, string>>
): Representation => {
  const sent = { ...common, ...headers, etag }
  return {
    etag,
    answer: HttpServerResponse.uint8Array(bytes, {
      status,
      contentType,
      headers: { ...sent, ...encoding }
    }),
    unchanged: HttpServerResponse.empty({ status: 304, headers: sent })
  }
}

/** The route of a file. It needs no token. */
export const published = async (file: File): Promise<Route> => {
  const bytes = Buffer.from(file.text)
  const hash = hashOf(file.text)
  const plain = representation(file, bytes, `"${hash}"`, {})
  const packed = representation(file, await compressed(bytes, { level: 9 }), `"${hash}-gzip"`, {
    "content-encoding": "gzip"
  })
  return {
    method: "GET",
    path: file.path,
    access: "public",
    answersJson: false,
    run: ({ request: { headers } }) => {
      const chosen = takesGzip(headers["accept-encoding"]) ? packed : plain
      const isUnchanged =
        file.status === undefined && isKnown(chosen.etag, headers["if-none-match"])
      return Effect.succeed(isUnchanged ? chosen.unchanged : chosen.answer)
    }
  }
}
