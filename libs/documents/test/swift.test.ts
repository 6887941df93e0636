/** The document store on OpenStack Swift, which checks every signature, fulfils the contract. */
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import type { DocumentPath } from "@data-import/domain/schema/DocumentPath"
import { Documents } from "@data-import/domain/documents/Documents"
import { documentFiles, documentsContract } from "@data-import/domain/testing/DocumentsContract"
import { fill, signAs, storeAt } from "../testing/Bucket.ts"
import { installation, isInstalled, start, type SwiftServer } from "./SwiftServer.ts"

const accessKey = "importer:reader"
const secret = "secret-of-the-reader"

const root = "suppliers/one"
const file = "plain.pdf" as DocumentPath

const finding = Effect.flatMap(Documents, (documents) => documents.find(root, file))

/** A link to the file that was made this long ago, for five minutes. */
const linkMade = Effect.fnUntraced(function* (ago: Duration.Duration) {
  yield* TestClock.setTime(Date.now() - Duration.toMillis(ago))
  const documents = yield* Documents
  return Option.getOrThrow(yield* documents.readLink(root, file, Duration.minutes(5)))
})

const getting = (link: URL) => Effect.promise(() => fetch(link))

const beforeTheSignatureOf = (link: URL, path: string): URL => {
  const other = new URL(link)
  other.pathname = other.pathname.replace(`${root}/${file}`, path)
  return other
}

if (!isInstalled) console.warn(`Swift is not installed, so not tried (${installation})`)

describe.skipIf(!isInstalled)("with Swift", () => {
  let swift: SwiftServer
  const store = Layer.unwrap(Effect.sync(() => storeAt(swift.endpoint)))

  beforeAll(async () => {
    signAs(accessKey, secret)
    swift = await start(accessKey, secret)
    await fill(swift.endpoint)
  })
  afterAll(() => swift.stop())

  documentsContract("Swift", store, null)

  describe("the signature", () => {
    it.live.each([
      ["secret", accessKey, "another secret", "SignatureDoesNotMatch"],
      ["key", "importer:nobody", secret, "SignatureDoesNotMatch"]
    ] as const)(
      "with a wrong %s is a defect, and no document is reported as missing",
      ([, key, signedWith, code]) =>
        Effect.gen(function* () {
          signAs(key, signedWith)
          const exit = yield* Effect.exit(Effect.provide(finding, store))
          const misconfigured = { _tag: "DocumentStoreMisconfigured", code }
          expect(exit).toMatchObject({ cause: { reasons: [{ defect: misconfigured }] } })
        }).pipe(Effect.ensuring(Effect.sync(() => signAs(accessKey, secret))))
    )

    it.effect("of a link expires exactly after its lifetime", () =>
      Effect.gen(function* () {
        const fresh = yield* getting(yield* linkMade(Duration.minutes(4)))
        expect(fresh.status).toBe(200)
        const content = documentFiles.get(`${root}/${file}`)
        expect(yield* Effect.promise(() => fresh.text())).toBe(content)
        const stale = yield* getting(yield* linkMade(Duration.minutes(6)))
        expect(stale.status).toBe(403)
        expect(yield* Effect.promise(() => stale.text())).toContain("expired")
      }).pipe(Effect.provide(store))
    )

    it.effect.each(["suppliers/two/private.pdf", `${root}/UPPER.PDF`])(
      "of a link is not valid for %s",
      (path) =>
        Effect.gen(function* () {
          const link = yield* linkMade(Duration.zero)
          expect((yield* getting(beforeTheSignatureOf(link, path))).status).toBe(403)
        }).pipe(Effect.provide(store))
    )

    it.effect("of a link allows reading only", () =>
      Effect.gen(function* () {
        const link = yield* linkMade(Duration.zero)
        const options = { method: "PUT", body: "other content" }
        const answer = yield* Effect.promise(() => fetch(link, options))
        expect(answer.status).toBe(403)
      }).pipe(Effect.provide(store))
    )
  })
})
