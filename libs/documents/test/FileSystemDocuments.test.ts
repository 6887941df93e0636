/** The document store on a file system, held to the contract, and kept inside its roots. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import type { DocumentPath } from "@data-import/domain/schema/DocumentPath"
import { Documents, DocumentsUnavailable } from "@data-import/domain/ports/Documents"
import { documentFiles, documentsContract } from "@data-import/domain/testing/DocumentsContract"
import { layerWith } from "../src/FileSystemDocuments.ts"

/** A bucket of its own, gone when the test is. */
const bucket = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "documents-"))
    for (const [path, content] of documentFiles) {
      mkdirSync(join(folder, dirname(path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

documentsContract("a file system", Layer.unwrap(Effect.map(bucket, layerWith)))

describe("Documents on a file system", () => {
  it.live("does not follow a link that leads out of the root", () =>
    Effect.gen(function* () {
      const folder = yield* bucket
      symlinkSync(join(folder, "outside.pdf"), join(folder, "suppliers/one/link.pdf"))
      symlinkSync(join(folder, "suppliers/two"), join(folder, "suppliers/one/two"))
      const found = yield* Effect.forEach(["link.pdf", "two/private.pdf"], (path) =>
        Effect.flatMap(Documents, (documents) =>
          documents.find("suppliers/one", path as DocumentPath)
        ).pipe(Effect.provide(layerWith(folder)))
      )
      expect(found).toEqual([Option.none(), Option.none()])
    })
  )

  it.live("is unavailable while its bucket does not exist", () =>
    Effect.gen(function* () {
      const documents = yield* Documents
      const failure = yield* Effect.flip(documents.find("one", "plain.pdf" as DocumentPath))
      expect(failure).toBeInstanceOf(DocumentsUnavailable)
    }).pipe(Effect.provide(layerWith(join(tmpdir(), "no-such-bucket"))))
  )
})
