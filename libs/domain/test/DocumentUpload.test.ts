/** Links for uploads: refusals, and the arguments with which a link is made. */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Option } from "effect"
import type { StoredDocument } from "../src/accounts/StoredDocument.ts"
import { Documents } from "../src/documents/Documents.ts"
import { DocumentUpload, layer } from "../src/documents/DocumentUpload.ts"
import { documentBytes } from "../src/documents/UploadValidation.ts"
import { sampleTime } from "../testing/samples.ts"
import { begin, demo, errorsOf, ports, rival, supplierCode } from "./importPrograms.ts"

const payload = {
  import_supplier: supplierCode,
  document_path: "/statements/new.pdf",
  size: 7,
  sha256: "0f".repeat(32)
}

const asked: Array<Parameters<Documents["Service"]["uploadLink"]>> = []

/** What is at the paths of the store. */
const found = new Map<string, StoredDocument>([
  [
    "same",
    {
      size: 7,
      etag: null,
      checksum: `SHA256:${Buffer.from(payload.sha256, "hex").toString("base64")}`
    }
  ],
  ["other", { size: 7, etag: null, checksum: `SHA256:${"A".repeat(43)}=` }],
  ["larger", { size: 8, etag: null, checksum: null }],
  ["parts", { size: 7, etag: null, checksum: `SHA256:${"A".repeat(43)}=-2` }],
  ["alike", { size: 7, etag: null, checksum: "CRC32:AAAA" }]
])

const notAsked = Effect.die(new Error("A document that is still to be put is not looked up"))

/** A store that makes links, except for a path that is too long. */
const store = Layer.succeed(Documents, {
  find: (_root, path) =>
    path.startsWith("compared/")
      ? Effect.succeed(Option.fromUndefinedOr(found.get(path.slice("compared/".length))))
      : notAsked,
  readLink: () => notAsked,
  uploadLink: (...request) =>
    Effect.sync(() => {
      asked.push(request)
      const link = {
        url: new URL("https://documents.example/new"),
        headers: { "if-none-match": "*" }
      }
      return request[1].includes("long") ? Option.none() : Option.some(link)
    })
})

const grant = (changes: Readonly<Record<string, unknown>> = {}, caller = demo) =>
  Effect.flatMap(DocumentUpload, (upload) =>
    upload.grant(caller, { payload: { ...payload, ...changes } })
  )

const world = layer.pipe(Layer.provideMerge(store), Layer.provideMerge(ports))

describe("an upload link", () => {
  it.effect("is for this file at this path, and for 15 minutes", () =>
    Effect.gen(function* () {
      yield* begin()
      asked.length = 0
      expect(yield* grant()).toEqual({
        document_path: "/statements/new.pdf",
        url: "https://documents.example/new",
        headers: { "if-none-match": "*" },
        expires_at: DateTime.addDuration(sampleTime, Duration.minutes(15))
      })
      const { sha256, size } = payload
      const [root, path, upload, lifetime] = asked[0] ?? []
      expect([root, path, upload]).toEqual([supplierCode, "/statements/new.pdf", { size, sha256 }])
      expect(Duration.toMinutes(lifetime ?? Duration.zero)).toBe(15)
    }).pipe(Effect.provide(world))
  )

  it.effect.each([
    [{ size: 0 }, "size min_value"],
    [{ size: documentBytes + 1 }, "size max_value"],
    [{ size: 1.5 }, "size invalid_type"],
    [{ sha256: "0F".repeat(32) }, "sha256 invalid"],
    [{ sha256: "0f".repeat(31) }, "sha256 invalid"],
    [{ document_path: "../other/new.pdf" }, "document_path invalid_document_path"],
    [{ document_path: "too/long.pdf" }, "document_path invalid_document_path"],
    [{ import_supplier: "NOBODY" }, "import_supplier import_supplier_does_not_exist"],
    [{ name: "new.pdf" }, "name unknown_field"]
  ] as const)("is refused for %o", ([changes, error]) =>
    Effect.gen(function* () {
      yield* begin()
      const refused = yield* Effect.flip(grant(changes))
      expect(refused.code).toBe("request_failed_validation")
      expect(errorsOf(refused)).toEqual([error])
    }).pipe(Effect.provide(world))
  )

  it.effect.each([
    ["none", "ABSENT"],
    ["same", "SAME"],
    ["other", "DIFFERS"],
    ["larger", "DIFFERS"],
    ["parts", "UNKNOWN"],
    ["alike", "UNKNOWN"]
  ] as const)(
    "tells on request how the file compares with what is stored: %s %s",
    ([name, stored]) =>
      Effect.gen(function* () {
        yield* begin()
        const granted = yield* grant({ document_path: `compared/${name}`, compare: true })
        expect(granted.stored).toBe(stored)
      }).pipe(Effect.provide(world))
  )

  it.effect("is refused to another organisation as for an unknown supplier", () =>
    Effect.gen(function* () {
      yield* begin()
      const refused = yield* Effect.flip(grant({}, rival))
      expect(errorsOf(refused)).toEqual(["import_supplier import_supplier_does_not_exist"])
    }).pipe(Effect.provide(world))
  )

  it.effect("is refused for a supplier that is paused", () =>
    Effect.gen(function* () {
      yield* begin({ status: "Paused" })
      expect((yield* Effect.flip(grant())).code).toBe("import_supplier_migration_not_ongoing")
    }).pipe(Effect.provide(world))
  )
})
