/** The stores of audit heads fulfil the contract, and suppliers cannot reach them. */
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import { buildApp } from "fauxqs"
import { layerMemory } from "@data-import/domain/testing/memory/AuditHeadStore"
import { AuditHeadStore } from "@data-import/domain/audit/AuditHeadStore"
import { Documents, DocumentsUnavailable } from "@data-import/domain/documents/Documents"
import type { DocumentPath } from "@data-import/domain/schema/DocumentPath"
import { auditHeadStoreContract } from "@data-import/domain/testing/AuditHeadStoreContract"
import * as FileSystemAuditHeads from "../src/FileSystemAuditHeads.ts"
import * as FileSystemDocuments from "../src/FileSystemDocuments.ts"
import { auditHeadsAt, fill, signAs, storeAt } from "../testing/Bucket.ts"

signAs("test", "test")

const endpoint = Effect.acquireRelease(
  Effect.promise(async () => {
    const app = buildApp({ logger: false })
    const url = await app.listen({ host: "127.0.0.1", port: 0 })
    await fill(url, "SHA256")
    return { app, url }
  }),
  ({ app }) => Effect.promise(() => app.close())
).pipe(Effect.map(({ url }) => url))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "audit-heads-"))),
  (it) => Effect.sync(() => rmSync(it, { recursive: true }))
)

auditHeadStoreContract("in memory", layerMemory, { isChecked: true })
auditHeadStoreContract("S3", Layer.unwrap(Effect.map(endpoint, auditHeadsAt)), {
  isChecked: false
})
auditHeadStoreContract(
  "a file system",
  Layer.unwrap(Effect.map(folder, FileSystemAuditHeads.layerWith)),
  { isChecked: true }
)

/** A server that has every object already. */
const full = Effect.acquireRelease(
  Effect.callback<{ readonly server: Server; readonly asked: Array<string | undefined> }>(
    (resume) => {
      const asked: Array<string | undefined> = []
      const server = createServer((request, response) => {
        asked.push(request.headers["if-none-match"])
        request.resume()
        const xml = "<Error><Code>PreconditionFailed</Code></Error>"
        response.writeHead(412, { "content-type": "application/xml" }).end(xml)
      }).listen(0, "127.0.0.1", () => resume(Effect.succeed({ server, asked })))
    }
  ),
  ({ server }) => Effect.sync(() => server.close().closeAllConnections())
)

it.live("S3 is told to replace nothing", () =>
  Effect.gen(function* () {
    const { asked, server } = yield* full
    const { port } = server.address() as AddressInfo
    const store = yield* Effect.provide(AuditHeadStore, auditHeadsAt(`http://127.0.0.1:${port}`))
    expect(yield* store.keep("2026-01-01", () => Effect.void)).toBe(false)
    expect(asked).toEqual(["*"])
  })
)

it.live("the store is unavailable while its folder does not exist", () =>
  Effect.gen(function* () {
    const store = yield* AuditHeadStore
    const keeping = store.keep("a", () => Effect.void)
    for (const asked of [keeping, store.latest, store.isKept("a")]) {
      expect(
        yield* Effect.flip(Effect.asVoid<unknown, DocumentsUnavailable, never>(asked))
      ).toBeInstanceOf(DocumentsUnavailable)
    }
  }).pipe(Effect.provide(FileSystemAuditHeads.layerWith(join(tmpdir(), "no-such-bucket"))))
)

const upload = { size: 7, sha256: "0f".repeat(32) }
const key = Redacted.make("k".repeat(32))
const uploads = Option.some({ url: new URL("http://127.0.0.1:1/"), key })

it.live.each(["", ".data-import", "/.data-import/audit-heads/"])(
  "no upload reaches the folder of the heads from the root '%s'",
  (root) =>
    Effect.gen(function* () {
      const whole = ".data-import/audit-heads/2026-01-01.ndjson.gz"
      const path = whole.slice(root.replace(/^\/+/, "").length).replace(/^\/+/, "") as DocumentPath
      const stores = [storeAt(yield* endpoint), FileSystemDocuments.layerWith("/tmp", uploads)]
      for (const store of stores) {
        const documents = yield* Effect.provide(Documents, store)
        const link = documents.uploadLink(root, path, upload, Duration.minutes(15))
        expect(yield* link).toEqual(Option.none())
      }
    })
)
