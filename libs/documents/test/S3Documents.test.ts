/** The document store on S3 fulfils the contract over the real protocol. */
import { createServer, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Deferred, Duration, Effect, Exit, Layer, Logger, Option } from "effect"
import { buildApp } from "fauxqs"
import { vi } from "vitest"
import type { DocumentPath } from "@data-import/domain/schema/DocumentPath"
import { Documents, DocumentsUnavailable } from "@data-import/domain/documents/Documents"
import { documentsContract } from "@data-import/domain/testing/DocumentsContract"
import { fill, signAs, storeAt } from "../testing/Bucket.ts"

signAs("test", "test")

const server = Effect.acquireRelease(
  Effect.promise(async () => {
    const app = buildApp({ logger: false })
    const endpoint = await app.listen({ host: "127.0.0.1", port: 0 })
    await fill(endpoint, "SHA256")
    return { app, endpoint }
  }),
  ({ app }) => Effect.promise(() => app.close())
)

const stocked = Layer.unwrap(Effect.map(server, ({ endpoint }) => storeAt(endpoint)))

documentsContract("S3", stocked, { isChecked: false })

interface Answer {
  readonly status: number
  /** Of the error, which an answer to HEAD has no place for. */
  readonly code?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the body to GET by itself. */
  readonly sendBody?: (response: ServerResponse) => void
}

interface Scripted {
  readonly endpoint: string
  /** Methods and paths of the requests. */
  readonly asked: ReadonlyArray<string>
}

/** A server that answers every request as the script says. */
const answering = (script: (path: string) => Answer) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Scripted & { readonly server: Server }>((resolve) => {
          const asked: Array<string> = []
          const server: Server = createServer(({ method = "", url = "" }, response) => {
            const [path = ""] = url.split("?")
            asked.push(`${method} ${path}`)
            const { code = "Strange", headers, sendBody, status } = script(path)
            const xml = `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`
            response.writeHead(status, { "content-type": "application/xml", ...headers })
            if (method === "GET" && sendBody !== undefined) return sendBody(response)
            response.end(method === "HEAD" ? undefined : xml)
          }).listen(0, "127.0.0.1", () => {
            const { port } = server.address() as AddressInfo
            resolve({ endpoint: `http://127.0.0.1:${port}`, asked, server })
          })
        })
    ),
    ({ server }) => Effect.sync(() => server.close().closeAllConnections())
  )

const finding = Effect.flatMap(Documents, (documents) =>
  documents.find("suppliers/one", "plain.pdf" as DocumentPath)
)

describe("Documents on S3", () => {
  it.live("returns the ETag and the checksum of the store", () =>
    Effect.gen(function* () {
      const found = Option.getOrThrow(yield* finding)
      expect(found.etag).toMatch(/^"[0-9a-f]{32}"$/)
      expect(found.checksum).toMatch(/^SHA256:[A-Za-z0-9+/]{43}=$/)
    }).pipe(Effect.provide(stocked))
  )

  it.live("binds an upload to its size, its checksum and a free path", () =>
    Effect.gen(function* () {
      const documents = yield* Documents
      const upload = { size: 7, sha256: "0f".repeat(32) }
      const { headers, url } = Option.getOrThrow(
        yield* documents.uploadLink("root", "new.pdf" as DocumentPath, upload, Duration.minutes(15))
      )
      expect(headers).toEqual({
        "content-length": "7",
        "if-none-match": "*",
        "x-amz-checksum-sha256": "Dw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8="
      })
      const names = ["host", ...Object.keys(headers)].toSorted()
      expect(url.searchParams.get("X-Amz-SignedHeaders")).toBe(names.join(";"))
      expect(url.searchParams.get("X-Amz-Expires")).toBe("900")
    }).pipe(Effect.provide(stocked))
  )

  it.live("takes no upload at a key that is longer than S3 allows", () =>
    Effect.gen(function* () {
      const documents = yield* Documents
      const long = "x".repeat(1_024) as DocumentPath
      const upload = { size: 7, sha256: "0f".repeat(32) }
      const link = yield* documents.uploadLink("root", long, upload, Duration.minutes(15))
      expect(link).toEqual(Option.none())
    }).pipe(Effect.provide(stocked))
  )

  it.live("signs into a link that the file is saved and never shown", () =>
    Effect.gen(function* () {
      const documents = yield* Documents
      const path = "notes/it's (1) ü.html" as DocumentPath
      const link = yield* documents.readLink("root", path, Duration.minutes(5))
      const { searchParams } = Option.getOrThrow(link)
      expect(searchParams.get("response-content-type")).toBe("application/octet-stream")
      expect(searchParams.get("response-content-disposition")).toBe(
        "attachment; filename*=UTF-8''it%27s%20%281%29%20%C3%BC.html"
      )
    }).pipe(Effect.provide(stocked))
  )

  it.live("links to the address that clients reach", () =>
    Effect.gen(function* () {
      const documents = yield* Documents
      const at = ["root", "new.pdf" as DocumentPath] as const
      const upload = { size: 7, sha256: "0f".repeat(32) }
      const links = [
        Option.map(
          yield* documents.uploadLink(...at, upload, Duration.minutes(15)),
          ({ url }) => url
        ),
        yield* documents.readLink(...at, Duration.minutes(15))
      ]
      expect(links.map((link) => Option.getOrThrow(link).origin)).toEqual([
        "https://documents.example",
        "https://documents.example"
      ])
    }).pipe(
      Effect.provide(
        storeAt("http://127.0.0.1:9", { S3_PUBLIC_ENDPOINT: "https://documents.example" })
      )
    )
  )

  it.live.each([500, 503, 429])("is unavailable if the store answers %i", (status) =>
    Effect.gen(function* () {
      const { endpoint } = yield* answering(() => ({ status }))
      const failure = yield* Effect.flip(Effect.provide(finding, storeAt(endpoint)))
      expect(failure).toBeInstanceOf(DocumentsUnavailable)
    })
  )

  it.live("is unavailable if no server answers", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* Effect.scoped(answering(() => ({ status: 200 })))
      const failure = yield* Effect.flip(Effect.provide(finding, storeAt(endpoint)))
      expect(failure).toBeInstanceOf(DocumentsUnavailable)
    })
  )
})

/** Sends until the client closes the connection, and then tells how many bytes it has taken. */
const endless = (closed: Deferred.Deferred<number>) => (response: ServerResponse) => {
  const chunk = Buffer.alloc(16 * 1024, " ")
  const { socket } = response
  const sendMore = () => {
    while (response.write(chunk));
  }
  response.on("drain", sendMore)
  response.once("close", () => {
    Deferred.doneUnsafe(closed, Exit.succeed(socket?.bytesWritten ?? Infinity))
  })
  sendMore()
}

describe("an answer of the store that is too large", () => {
  it.live.each([404, 403, 200])("is unavailable, and is not read to its end: %i", (status) =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<number>()
      const first = { status: status === 200 ? 404 : status }
      let asked = 0
      const { endpoint } = yield* answering(() =>
        asked++ === 0 ? first : { status, sendBody: endless(closed) }
      )
      const failure = yield* Effect.flip(Effect.provide(finding, storeAt(endpoint)))
      expect(failure).toBeInstanceOf(DocumentsUnavailable)
      // Both sides of a connection buffer some megabytes.
      expect(yield* Deferred.await(closed)).toBeLessThan(16 * 1024 * 1024)
      expect(asked, "not tried again").toBe(2)
    })
  )

  it.live.each([
    ["etag", 256, { etag: "e".repeat(256), checksum: null }],
    ["etag", 257, { etag: null, checksum: null }],
    ["x-amz-checksum-crc32", 256, { etag: null, checksum: `CRC32:${"e".repeat(256)}` }],
    ["x-amz-checksum-crc32", 257, { etag: null, checksum: null }]
  ] as const)(
    "counts as absent where it is a header: %s of %i characters",
    ([name, length, parts]) =>
      Effect.gen(function* () {
        const headers = { [name]: "e".repeat(length) }
        const { endpoint } = yield* answering(() => ({ status: 200, headers }))
        const found = Option.getOrThrow(yield* Effect.provide(finding, storeAt(endpoint)))
        expect(found).toMatchObject(parts)
      })
  )
})

/** What is logged while the effect runs. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    lines.push(`${logLevel} ${String(message)}`)
  })
  return Effect.map(
    Effect.provideService(effect, Logger.CurrentLoggers, new Set([logger])),
    (value) => ({ value, lines })
  )
}

const misconfigurations: ReadonlyArray<readonly [status: number, code: string, remedy: string]> = [
  [403, "AccessDenied", "Grant s3:ListBucket on the bucket"],
  [403, "InvalidAccessKeyId", "access key"],
  [403, "SignatureDoesNotMatch", "secret"],
  [404, "NoSuchBucket", "S3_BUCKET"],
  [301, "PermanentRedirect", "S3_REGION and S3_ENDPOINT"],
  [400, "AuthorizationHeaderMalformed", "S3_REGION and S3_ENDPOINT"],
  [403, "SomethingNew", "Compare the settings"]
]

describe("a misconfigured store", () => {
  it.live.each(misconfigurations)(
    "is a defect with a line of the log: %i %s",
    ([status, code, remedy]) =>
      Effect.gen(function* () {
        const { asked, endpoint } = yield* answering(() => ({ status, code }))
        const { lines, value } = yield* logged(
          Effect.exit(Effect.provide(finding, storeAt(endpoint)))
        )
        const defect = Exit.isFailure(value) ? Cause.squash(value.cause) : undefined
        expect(Exit.isFailure(value) && Cause.hasDies(value.cause)).toBe(true)
        expect(defect).toMatchObject({ _tag: "DocumentStoreMisconfigured", code })
        expect(lines).toHaveLength(1)
        expect(lines[0]).toMatch(new RegExp(`^Error The document store is not usable: ${code}\\. `))
        expect(lines[0]).toContain(remedy)
        const path = "/documents/suppliers/one/plain.pdf"
        expect(asked, "not tried again").toEqual([`HEAD ${path}`, `GET ${path}`])
      })
  )

  it.live("includes one without credentials", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* answering(() => ({ status: 200 }))
      for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]) vi.stubEnv(name, undefined)
      vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true")
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
      const exit = yield* Effect.exit(Effect.provide(finding, storeAt(endpoint)))
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toMatchObject({
        _tag: "DocumentStoreMisconfigured",
        code: "CredentialsProviderError"
      })
    })
  )
})
