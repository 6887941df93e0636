/** The document store on S3, held to the contract over the real protocol. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Logger, Option } from "effect"
import { TestClock } from "effect/testing"
import { buildApp } from "fauxqs"
import { vi } from "vitest"
import type { DocumentPath } from "@data-import/domain/schema/DocumentPath"
import { Documents, DocumentsUnavailable } from "@data-import/domain/ports/Documents"
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

documentsContract("S3", stocked)

interface Answer {
  readonly status: number
  /** Of the error, which an answer to HEAD has no place for. */
  readonly code?: string
}

interface Scripted {
  readonly endpoint: string
  /** Methods and paths as they were asked. */
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
            const { code = "Strange", status } = script(path)
            const xml = `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`
            response.writeHead(status, { "content-type": "application/xml" })
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

  it.live.each([500, 503, 429])("is unavailable where the store answers %i", (status) =>
    Effect.gen(function* () {
      const { endpoint } = yield* answering(() => ({ status }))
      const failure = yield* Effect.flip(Effect.provide(finding, storeAt(endpoint)))
      expect(failure).toBeInstanceOf(DocumentsUnavailable)
    })
  )

  it.live("is unavailable where no server answers", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* Effect.scoped(answering(() => ({ status: 200 })))
      const failure = yield* Effect.flip(Effect.provide(finding, storeAt(endpoint)))
      expect(failure).toBeInstanceOf(DocumentsUnavailable)
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

  it.effect("is not assumed for each missing object of an existing bucket", () =>
    Effect.gen(function* () {
      const { asked, endpoint } = yield* answering((path) =>
        path.endsWith("there.pdf") ? { status: 200 } : { status: 404, code: "NoSuchKey" }
      )
      yield* Effect.gen(function* () {
        const { find } = yield* Documents
        const missing = find("one", "missing.pdf" as DocumentPath)
        expect(yield* missing).toEqual(Option.none())
        expect(yield* missing).toEqual(Option.none())
        yield* TestClock.adjust("1 minute")
        expect(yield* missing).toEqual(Option.none())
        yield* TestClock.adjust("1 minute")
        yield* find("one", "there.pdf" as DocumentPath)
        expect(yield* missing).toEqual(Option.none())
      }).pipe(Effect.provide(storeAt(endpoint)))
      expect(asked.map((line) => line.replace("/documents/one/", ""))).toEqual([
        "HEAD missing.pdf",
        "GET missing.pdf",
        "HEAD missing.pdf",
        "HEAD missing.pdf",
        "GET missing.pdf",
        "HEAD there.pdf",
        "HEAD missing.pdf"
      ])
    })
  )
})
