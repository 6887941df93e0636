/**
 * Uploads to the document store on a file system: signed links, and the server that receives
 * uploads, with the statuses of an S3 store. They are for the local run and for tests.
 */
import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto"
import { createWriteStream } from "node:fs"
import { link, mkdir, rm } from "node:fs/promises"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import { Clock, Config, DateTime, Effect, Option, Redacted, type Scope } from "effect"
import type { DocumentUpload } from "@data-import/domain/documents/Documents"
import * as Settings from "@data-import/domain/support/Settings"

/** Where uploads are taken, and the key that signs links there. */
export interface Uploads {
  readonly url: URL
  readonly key: Redacted.Redacted
}

/** An upload to this key of the bucket before the link expires. */
interface Signed extends DocumentUpload {
  readonly key: string
  readonly expiresAt: DateTime.Utc
}

/** None unless both are set. */
export const settings: Config.Config<Option.Option<Uploads>> = Config.map(
  Config.all({
    url: Settings.url("DOCUMENTS_UPLOAD_URL", ["http:", "https:"]).optional,
    key: Settings.secret(
      "DOCUMENTS_UPLOAD_KEY",
      "at least 32 printable ASCII characters",
      (value) => /^[!-~]{32,}$/.test(value)
    ).optional
  }),
  Option.all
)

const signatureOf = (secret: Redacted.Redacted, { expiresAt, key, sha256, size }: Signed) =>
  createHmac("sha256", Redacted.value(secret))
    .update(JSON.stringify([key, size, sha256, expiresAt.epochMilliseconds]))
    .digest()

export const linkTo = ({ key, url }: Uploads, signed: Signed): URL => {
  const link = new URL(url)
  link.search = new URLSearchParams({
    key: signed.key,
    size: String(signed.size),
    sha256: signed.sha256,
    expires: String(signed.expiresAt.epochMilliseconds),
    signature: signatureOf(key, signed).toString("hex")
  }).toString()
  return link
}

/** What the link allows; null if it was not made with this key. */
const verified = (secret: Redacted.Redacted, parameters: URLSearchParams): Signed | null => {
  const text = (name: string) => parameters.get(name) ?? ""
  const expires = DateTime.make(Number(text("expires")))
  if (Option.isNone(expires)) return null
  const signed: Signed = {
    key: text("key"),
    size: Number(text("size")),
    sha256: text("sha256"),
    expiresAt: DateTime.toUtc(expires.value)
  }
  const wanted = signatureOf(secret, signed)
  const given = Buffer.from(text("signature"), "hex")
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? signed : null
}

/** Whether a call of the file system failed with one of these error codes. */
export const hasCode = (cause: unknown, ...codes: ReadonlyArray<unknown>): boolean =>
  cause instanceof Error && "code" in cause && codes.includes(cause.code)

/**
 * Stores the bytes at the key unless there is a file, at it or where it has a folder. The file
 * appears atomically.
 */
const put = async (
  bucket: string,
  { key, sha256, size }: Signed,
  body: IncomingMessage
): Promise<number> => {
  const path = join(bucket, key)
  const partial = join(dirname(path), `.${randomUUID()}.part`)
  const hash = createHash("sha256")
  let length = 0
  const counting = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      length += chunk.length
      hash.update(chunk)
      done(null, chunk)
    }
  })
  try {
    await mkdir(dirname(path), { recursive: true })
  } catch (cause) {
    if (hasCode(cause, "ENOTDIR", "EEXIST")) return 400
    throw cause
  }
  try {
    await pipeline(body, counting, createWriteStream(partial, { flush: true }))
    if (length !== size || hash.digest("hex") !== sha256) return 400
    await link(partial, path)
    return 200
  } catch (cause) {
    if (hasCode(cause, "EEXIST")) return 412
    throw cause
  } finally {
    await rm(partial, { force: true })
  }
}

const answer = async (
  bucket: string,
  secret: Redacted.Redacted,
  request: IncomingMessage,
  now: number
): Promise<number> => {
  const { headers, method, url = "" } = request
  if (method !== "PUT") return 405
  const signed = verified(secret, new URL(url, "http://localhost").searchParams)
  if (signed === null || signed.expiresAt.epochMilliseconds < now) return 403
  if (headers["if-none-match"] !== "*") return 403
  if (headers["content-length"] !== String(signed.size)) return 403
  return put(bucket, signed, request)
}

/** Receives uploads into the bucket, from this machine only. Returns the address for links. */
export const serve = (
  bucket: string,
  key: Redacted.Redacted
): Effect.Effect<URL, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.flatMap(Clock.Clock, (clock) =>
      Effect.callback<Server>((resume) => {
        const server = createServer((request, response) => {
          answer(bucket, key, request, clock.currentTimeMillisUnsafe()).then(
            (status) => response.writeHead(status).end(),
            () => response.destroy()
          )
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      })
    ),
    (server) => Effect.sync(() => server.close().closeAllConnections())
  ).pipe(
    Effect.map((server) => {
      const { port } = server.address() as AddressInfo
      return new URL(`http://127.0.0.1:${port}/`)
    })
  )
