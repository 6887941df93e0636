/** A document is uploaded to the link of the service. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Asked, clientOf, inTime, json, refusal, type Reply } from "./scriptedService.ts"

const document_path = "notes/1.pdf"
const hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
const url = "http://store.test/bucket/notes/1.pdf?signature=s"
const link = {
  document_path,
  url,
  headers: { "if-none-match": "*", "x-amz-checksum-sha256": "c" },
  expires_at: "2026-11-23T09:14:07Z"
}
const document = {
  import_supplier: "S",
  document_path,
  content: new TextEncoder().encode("abc")
}

const uploaded = (store: () => Reply) =>
  Effect.gen(function* () {
    const { asked, client } = yield* clientOf(({ method }) =>
      method === "PUT" ? store() : json(link, 201)
    )
    const result = yield* inTime(Effect.result(client.accountImport.uploadDocument(document)))
    return { asked, result }
  }).pipe(Effect.scoped)

const isPut = ({ method }: Asked): boolean => method === "PUT"

describe("the upload of a document", () => {
  it.effect("requests a link with size and hash, and uploads the bytes with its headers", () =>
    Effect.gen(function* () {
      const { asked, result } = yield* uploaded(() => new Response(null, { status: 200 }))
      expect(result).toMatchObject({ success: { document_path, existed: false } })
      const [request] = asked.filter(({ path }) => path.endsWith("/documents/"))
      const payload = { import_supplier: "S", document_path, size: 3, sha256: hash }
      expect(JSON.parse(request?.body ?? "")).toEqual({ payload })
      const [put] = asked.filter(isPut)
      expect(put).toMatchObject({ body: "abc", headers: link.headers })
      expect(put?.headers["authorization"]).toBeUndefined()
    })
  )

  it.effect("succeeds if the file exists, and is repeated if the store is unavailable", () =>
    Effect.gen(function* () {
      const answers: Array<Reply> = [undefined, json("", 503), new Response(null, { status: 412 })]
      const { asked, result } = yield* uploaded(() => answers.shift())
      expect(result).toMatchObject({ success: { existed: true } })
      expect(asked.filter(isPut)).toHaveLength(3)
    })
  )

  it.effect("sends no bytes to a path with a file if it is to compare", () =>
    Effect.gen(function* () {
      const { asked, client } = yield* clientOf(() => json({ ...link, stored: "DIFFERS" }, 201))
      const compared = { ...document, compare: true }
      const result = yield* inTime(client.accountImport.uploadDocument(compared))
      expect(result).toEqual({ document_path, existed: true, stored: "DIFFERS" })
      expect(asked.filter(isPut)).toEqual([])
    }).pipe(Effect.scoped)
  )

  it.effect("fails without the link in its error if the store refuses the bytes", () =>
    Effect.gen(function* () {
      const { result } = yield* uploaded(() => refusal(400, "BadDigest"))
      expect(result).toMatchObject({ failure: { code: "unexpected_answer", statusCode: 400 } })
      expect(JSON.stringify(result)).not.toContain("signature")
    })
  )
})
