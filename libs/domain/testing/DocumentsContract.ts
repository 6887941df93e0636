/**
 * What every document store must do: find existing files of any name, under the supplier's root and
 * nowhere else.
 */
import { describe, expect, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { request } from "node:http"
import { Duration, Effect, type Layer, Option } from "effect"
import { type DocumentUpload, Documents, type UploadLink } from "../src/documents/Documents.ts"
import type { DocumentPath } from "../src/schema/DocumentPath.ts"

const root = "suppliers/one"
const otherRoot = "suppliers/two"

const names = [
  "plain.pdf",
  "folder/in folder/space and+plus.pdf",
  "100% #1 ?.pdf",
  "ærø/ünï¢öðé-日本-😀.pdf",
  "a=b&c;d,e'f(g)!.pdf",
  "UPPER.PDF",
  ".hidden",
  "dots...pdf"
]

/** The files that a store under test must hold: their text by bucket path. */
export const documentFiles: ReadonlyMap<string, string> = new Map([
  ...names.map((name): [string, string] => [`${root}/${name}`, `content of ${name}`]),
  [`${root}/empty.pdf`, ""],
  [`${otherRoot}/private.pdf`, "of another supplier"],
  ["outside.pdf", "of nobody"]
])

const contentOf = (file: string): string => documentFiles.get(`${root}/${file}`) ?? ""

const path = (text: string) => text as DocumentPath

const uploadOf = (content: string): DocumentUpload => ({
  size: Buffer.byteLength(content),
  sha256: createHash("sha256").update(content).digest("hex")
})

/** A PUT of this content, without `fetch`, which sets some headers itself. */
const putting = ({ headers, url }: UploadLink, content: string) =>
  Effect.callback<number>((resume) => {
    const sent = request(url, { method: "PUT", headers }, (answer) => {
      answer.resume()
      resume(Effect.succeed(answer.statusCode ?? 0))
    })
    sent.on("error", (error) => resume(Effect.die(error)))
    sent.end(content)
  })

/** How a store under test handles uploads. */
export interface Uploading {
  /** Whether it refuses to replace a file, and any content other than that of the link. */
  readonly isChecked: boolean
}

const linkTo = (file: string, content: string, lifetime = Duration.minutes(15)) =>
  Effect.flatMap(Documents, (documents) =>
    documents.uploadLink(root, path(file), uploadOf(content), lifetime)
  ).pipe(Effect.map(Option.getOrThrow))

const uploads = <E>(layer: Layer.Layer<Documents, E>, { isChecked }: Uploading): void => {
  it.live.each(names)("accepts an upload beside %s, and finds it afterwards", (name) =>
    Effect.gen(function* () {
      const file = `new/${name}`
      const content = `new content of ${name}`
      const status = yield* putting(yield* linkTo(file, content), content)
      expect(status).toBe(200)
      const documents = yield* Documents
      const found = Option.getOrThrow(yield* documents.find(root, path(file)))
      expect(found.size).toBe(Buffer.byteLength(content))
    }).pipe(Effect.provide(layer))
  )

  if (!isChecked) return

  it.live("replaces no file", () =>
    Effect.gen(function* () {
      const link = yield* linkTo("plain.pdf", "other content")
      expect(yield* putting(link, "other content")).toBe(412)
      const documents = yield* Documents
      const found = Option.getOrThrow(yield* documents.find(root, path("plain.pdf")))
      expect(found.size).toBe(Buffer.byteLength(contentOf("plain.pdf")))
    }).pipe(Effect.provide(layer))
  )

  it.live.each([
    ["other bytes of the same size", "content B", {}],
    ["another size", "content", { "content-length": "7" }],
    ["no condition", "content A", { "if-none-match": "" }]
  ] as const)("refuses %s, and stores nothing", ([, content, changed]) =>
    Effect.gen(function* () {
      const link = yield* linkTo("refused.pdf", "content A")
      const headers = { ...link.headers, ...changed }
      const status = yield* putting({ ...link, headers }, content)
      expect(status).toBeOneOf([400, 403])
      const documents = yield* Documents
      expect(yield* documents.find(root, path("refused.pdf"))).toEqual(Option.none())
    }).pipe(Effect.provide(layer))
  )
}

/** Runs the suite on a store that holds `documentFiles`, with uploads unless null. */
export const documentsContract = <E>(
  name: string,
  layer: Layer.Layer<Documents, E>,
  uploading: Uploading | null
): void => {
  describe(`Documents on ${name}`, () => {
    const finding = (at: string, file: string) =>
      Effect.flatMap(Documents, (documents) => documents.find(at, path(file))).pipe(
        Effect.provide(layer)
      )

    it.live.each([...names, "empty.pdf"])("finds %s with its size", (file) =>
      Effect.gen(function* () {
        const found = yield* finding(root, file)
        const size = Buffer.byteLength(contentOf(file))
        expect(Option.map(found, (document) => document.size)).toEqual(Option.some(size))
      })
    )

    it.live.each([
      ["a name that is not there", root, "missing.pdf"],
      ["a folder", root, "folder"],
      ["a folder in a folder", root, "folder/in folder"],
      ["something below a file", root, "plain.pdf/more.pdf"],
      ["another case", root, "PLAIN.PDF"],
      ["the file of another supplier", root, "private.pdf"],
      ["a file outside of any root", root, "outside.pdf"],
      ["a root that is not there", "suppliers/three", "plain.pdf"],
      ["a name longer than any store takes", root, "x".repeat(1024)]
    ] as const)("finds nothing at %s", ([, at, file]) =>
      Effect.gen(function* () {
        expect(yield* finding(at, file)).toEqual(Option.none())
      })
    )

    it.live("finds the file below a root with leading or trailing slashes", () =>
      Effect.gen(function* () {
        expect(Option.isSome(yield* finding(`/${root}/`, "plain.pdf"))).toBe(true)
      })
    )

    it.live.each(names)("links to the content of %s if it has links", (file) =>
      Effect.gen(function* () {
        const documents = yield* Documents
        const link = yield* documents.readLink(root, path(file), Duration.minutes(5))
        if (Option.isNone(link)) return
        const answer = yield* Effect.promise(() => fetch(link.value))
        expect(answer.status).toBe(200)
        expect(yield* Effect.promise(() => answer.text())).toBe(contentOf(file))
      }).pipe(Effect.provide(layer))
    )

    if (uploading !== null) describe("uploads", () => uploads(layer, uploading))
  })
}
