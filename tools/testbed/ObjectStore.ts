/**
 * The document store as in a deployment: an S3 server, with the documents that the sample requests
 * name. It ends with the scope.
 */
import { Data, Effect, type Scope } from "effect"
import { buildApp } from "fauxqs"
import { documentPaths } from "./SampleDocuments.ts"

const bucket = "documents"

/** The store did not carry a request out. */
class StoreRefused extends Data.TaggedError("StoreRefused")<{ readonly message: string }> {}

/** The bytes of every object by its key. */
export type Objects = ReadonlyMap<string, string>

export interface ObjectStore {
  readonly port: number
  readonly objects: {
    readonly copy: Effect.Effect<Objects>
    /** Deletes them all. */
    readonly lose: Effect.Effect<void>
    readonly putBack: (objects: Objects) => Effect.Effect<void>
  }
  /** Puts every document of the sample under this root. */
  readonly fill: (root: string) => Effect.Effect<void>
}

const send = async (url: string, request: RequestInit): Promise<string> => {
  const answer = await fetch(url, request)
  const text = await answer.text()
  if (!answer.ok) throw new StoreRefused({ message: `${url}: ${answer.status}` })
  return text
}

const put = (url: string, body: string) => send(url, { method: "PUT", body })

/** All keys of the bucket, which has fewer than a page of them. */
const keysOf = async (bucketUrl: string): Promise<ReadonlyArray<string>> => {
  const listed = await send(`${bucketUrl}?list-type=2`, {})
  if (!listed.includes("<IsTruncated>false</IsTruncated>")) {
    throw new StoreRefused({ message: `${bucketUrl} has more keys than it lists` })
  }
  return [...listed.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = ""]) => key)
}

const objectsOf = (bucketUrl: string): ObjectStore["objects"] => {
  const each = (visit: (url: string, key: string) => Promise<void>) =>
    Effect.promise(async () => {
      for (const key of await keysOf(bucketUrl)) await visit(`${bucketUrl}/${key}`, key)
    })
  return {
    copy: Effect.suspend(() => {
      const copied = new Map<string, string>()
      const copy = each(async (url, key) => void copied.set(key, await send(url, {})))
      return Effect.as(copy, copied)
    }),
    lose: each(async (url) => void (await send(url, { method: "DELETE" }))),
    putBack: (objects) =>
      Effect.promise(async () => {
        for (const [key, body] of objects) await put(`${bucketUrl}/${key}`, body)
      })
  }
}

export const make: Effect.Effect<ObjectStore, never, Scope.Scope> = Effect.gen(function* () {
  const app = yield* Effect.acquireRelease(
    Effect.sync(() => buildApp({ logger: false })),
    (it) => Effect.promise(() => it.close())
  )
  const address = yield* Effect.promise(() => app.listen({ host: "127.0.0.1", port: 0 }))
  const bucketUrl = `${address}/${bucket}`
  yield* Effect.promise(() => put(bucketUrl, ""))
  const putUnder = (root: string, path: string) =>
    Effect.asVoid(Effect.promise(() => put(`${bucketUrl}/${root}/${path}`, "A document")))
  const fill = (root: string) =>
    Effect.forEach(documentPaths, (path) => putUnder(root, path), { discard: true })
  const objects = objectsOf(bucketUrl)
  return { port: Number(new URL(address).port), fill, objects }
})

/** The settings with which a service uses the store at this port. */
export const settingsFor = (port: number): Readonly<Record<string, string>> => ({
  S3_BUCKET: bucket,
  S3_ENDPOINT: `http://127.0.0.1:${port}`,
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test"
})
