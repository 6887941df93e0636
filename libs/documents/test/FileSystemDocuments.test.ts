/** The document store on a file system fulfils the contract, and stays inside its roots. */
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { DocumentPath } from "@data-import/domain/schema/DocumentPath"
import {
  Documents,
  DocumentsUnavailable,
  type UploadLink
} from "@data-import/domain/documents/Documents"
import { documentFiles, documentsContract } from "@data-import/domain/testing/DocumentsContract"
import { layerWith } from "../src/FileSystemDocuments.ts"
import * as FileSystemUploads from "../src/FileSystemUploads.ts"

/** A new bucket, deleted when the test ends. */
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

const key = Redacted.make("k".repeat(32))

/** The store, with a server that takes its uploads. */
const withUploads = Effect.gen(function* () {
  const folder = yield* bucket
  const url = yield* FileSystemUploads.serve(folder, key)
  return { folder, store: layerWith(folder, Option.some({ url, key })) }
})

documentsContract("a file system", Layer.unwrap(Effect.map(withUploads, ({ store }) => store)), {
  isChecked: true
})

describe("a link of the file system", () => {
  const content = "the content"
  const linkTo = Effect.fnUntraced(function* (path: string) {
    const documents = yield* Documents
    const sha256 = createHash("sha256").update(content).digest("hex")
    const upload = { size: content.length, sha256 }
    const at = ["suppliers/one", path as DocumentPath] as const
    return yield* documents.uploadLink(...at, upload, Duration.minutes(15))
  })
  const linkMade = Effect.map(linkTo("new.pdf"), Option.getOrThrow)
  const put = ({ headers, url }: UploadLink, method = "PUT") =>
    Effect.map(
      Effect.promise(() => fetch(url, { method, headers, body: content })),
      ({ status }) => status
    )
  const stored = Layer.unwrap(Effect.map(withUploads, ({ store }) => store))

  it.effect("expires", () =>
    Effect.gen(function* () {
      const link = yield* linkMade
      yield* TestClock.adjust(Duration.minutes(16))
      expect(yield* put(link)).toBe(403)
      const fresh = yield* linkMade
      yield* TestClock.adjust(Duration.minutes(14))
      expect(yield* put(fresh)).toBe(200)
    }).pipe(Effect.provide(stored))
  )

  it.effect.each(["key", "size", "sha256", "expires", "signature"])(
    "is refused with another %s",
    (name) =>
      Effect.gen(function* () {
        const link = yield* linkMade
        const value = link.url.searchParams.get(name) ?? ""
        link.url.searchParams.set(name, `${value.slice(0, -1)}${value.endsWith("1") ? 2 : 1}`)
        expect(yield* put(link)).toBe(403)
      }).pipe(Effect.provide(stored))
  )

  it.effect("is for PUT only", () =>
    Effect.gen(function* () {
      expect(yield* put(yield* linkMade, "POST")).toBe(405)
    }).pipe(Effect.provide(stored))
  )

  it.effect("is for a name that a file can have, and refused where a file is in its way", () =>
    Effect.gen(function* () {
      const longest = `${"é".repeat(125)}.pdfs`
      expect(yield* put(Option.getOrThrow(yield* linkTo(longest)))).toBe(200)
      expect(yield* linkTo(`a/${longest}s/b.pdf`)).toEqual(Option.none())
      for (const below of ["b.pdf", "b/c.pdf"]) {
        expect(yield* put(Option.getOrThrow(yield* linkTo(`${longest}/${below}`)))).toBe(400)
      }
    }).pipe(Effect.provide(stored))
  )

  it.effect("leaves nothing of an upload that its client breaks off", () =>
    Effect.gen(function* () {
      const { folder, store } = yield* withUploads
      const { headers, url } = yield* Effect.provide(linkMade, store)
      yield* Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            const sent = request(url, { method: "PUT", headers })
            sent.on("error", () => resolve())
            sent.write("the", () => sent.destroy(new Error("gone")))
          })
      )
      const left = Effect.sync(() => readdirSync(join(folder, "suppliers/one")))
      const names = yield* Effect.repeat(left, {
        until: (names) => !names.some((name) => name.endsWith(".part"))
      })
      expect(names).not.toContain("new.pdf")
    })
  )
})

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

  it.live("follows a link that leads to the root, and to one place in it from another", () =>
    Effect.gen(function* () {
      const folder = yield* bucket
      symlinkSync(join(folder, "suppliers/one"), join(folder, "linked"))
      symlinkSync(join(folder, "suppliers/one/plain.pdf"), join(folder, "suppliers/one/link.pdf"))
      symlinkSync(join(folder, "suppliers/two/private.pdf"), join(folder, "suppliers/one/out.pdf"))
      const { find } = yield* Effect.provide(Documents, layerWith(folder))
      const isFound = (root: string, path: string) =>
        Effect.map(find(root, path as DocumentPath), Option.isSome)
      for (const root of ["suppliers/one", "/suppliers/one/", "linked"]) {
        expect(yield* isFound(root, "plain.pdf"), root).toBe(true)
        expect(yield* isFound(root, "link.pdf"), root).toBe(true)
        expect(yield* isFound(root, "out.pdf"), root).toBe(false)
      }
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
