/**
 * What every document store does: it finds the files that are there, under the supplier's root and
 * nowhere else, whatever their names.
 */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, type Layer, Option } from "effect"
import { Documents } from "../src/ports/Documents.ts"
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

/** Runs the suite on a store that holds `documentFiles`. */
export const documentsContract = <E>(name: string, layer: Layer.Layer<Documents, E>): void => {
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

    it.live("finds the file below a root that is written with slashes", () =>
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
  })
}
