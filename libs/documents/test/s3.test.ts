/** The document store on S3, held to the contract over the real protocol. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { buildApp } from "fauxqs"
import type { DocumentPath } from "@data-import/domain/Document"
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

/** A server that answers every request like this. */
const answering = (status: number) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Server>((resolve) => {
          const one: Server = createServer((_request, response) => {
            response.writeHead(status).end()
          }).listen(0, "127.0.0.1", () => resolve(one))
        })
    ),
    (one) => Effect.sync(() => one.close().closeAllConnections())
  )

const finding = Effect.flatMap(Documents, (documents) =>
  documents.find("suppliers/one", "plain.pdf" as DocumentPath)
)

describe("Documents on S3", () => {
  it.live("tells the ETag and the checksum that the store has", () =>
    Effect.gen(function* () {
      const found = Option.getOrThrow(yield* finding)
      expect(found.etag).toMatch(/^"[0-9a-f]{32}"$/)
      expect(found.checksum).toMatch(/^SHA256:[A-Za-z0-9+/]{43}=$/)
    }).pipe(Effect.provide(stocked))
  )

  it.live.each([500, 503, 403])("is unavailable where the store answers %i", (status) =>
    Effect.gen(function* () {
      const { port } = (yield* answering(status)).address() as AddressInfo
      const failure = yield* Effect.flip(
        Effect.provide(finding, storeAt(`http://127.0.0.1:${port}`))
      )
      expect(failure).toBeInstanceOf(DocumentsUnavailable)
    })
  )

  it.live("is unavailable where nobody answers", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(
        Effect.map(answering(200), (one) => (one.address() as AddressInfo).port)
      )
      const failure = yield* Effect.flip(
        Effect.provide(finding, storeAt(`http://127.0.0.1:${gone}`))
      )
      expect(failure).toBeInstanceOf(DocumentsUnavailable)
    })
  )
})
