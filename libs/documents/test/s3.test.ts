/** The document store on S3, held to the contract over the real protocol. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { CreateBucketCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option } from "effect"
import { buildApp } from "fauxqs"
import type { DocumentPath } from "@data-import/domain/Document"
import { Documents, DocumentsUnavailable } from "@data-import/domain/ports/Documents"
import { documentFiles, documentsContract } from "@data-import/domain/testing/DocumentsContract"
import { layer } from "../src/DocumentStore.ts"

const bucket = "documents"
const credentials = { accessKeyId: "test", secretAccessKey: "test" }

/** The standard chain looks here first. */
process.env["AWS_ACCESS_KEY_ID"] = credentials.accessKeyId
process.env["AWS_SECRET_ACCESS_KEY"] = credentials.secretAccessKey

const storeAt = (endpoint: string) =>
  layer.pipe(
    Layer.provide(
      ConfigProvider.layer(ConfigProvider.fromUnknown({ S3_BUCKET: bucket, S3_ENDPOINT: endpoint }))
    )
  )

const fill = async (endpoint: string) => {
  const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials })
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  for (const [Key, Body] of documentFiles) {
    await client.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key,
        Body: Buffer.from(Body),
        ChecksumAlgorithm: "SHA256"
      })
    )
  }
  client.destroy()
}

const server = Effect.acquireRelease(
  Effect.promise(async () => {
    const app = buildApp({ logger: false })
    const endpoint = await app.listen({ host: "127.0.0.1", port: 0 })
    await fill(endpoint)
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
