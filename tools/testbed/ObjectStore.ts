/**
 * The document store as a deployment has it: a server that speaks S3, with the documents that the
 * sample requests name. It ends with the scope.
 */
import { Data, Effect, type Scope } from "effect"
import { buildApp } from "fauxqs"
import { documentPaths } from "./SampleDocuments.ts"

const bucket = "documents"

/** The store did not take what was put there. */
class NotPut extends Data.TaggedError("NotPut")<{ readonly message: string }> {}

export interface ObjectStore {
  readonly port: number
  readonly put: (root: string, path: string) => Effect.Effect<void>
  /** Puts every document of the sample under this root. */
  readonly fill: (root: string) => Effect.Effect<void>
}

const put = async (url: string, body: string): Promise<void> => {
  const answer = await fetch(url, { method: "PUT", body })
  await answer.arrayBuffer()
  if (!answer.ok) throw new NotPut({ message: `${url}: ${answer.status}` })
}

export const make: Effect.Effect<ObjectStore, never, Scope.Scope> = Effect.gen(function* () {
  const app = yield* Effect.acquireRelease(
    Effect.sync(() => buildApp({ logger: false })),
    (it) => Effect.promise(() => it.close())
  )
  const address = yield* Effect.promise(() => app.listen({ host: "127.0.0.1", port: 0 }))
  yield* Effect.promise(() => put(`${address}/${bucket}`, ""))
  const putUnder = (root: string, path: string) =>
    Effect.promise(() => put(`${address}/${bucket}/${root}/${path}`, "A document"))
  const fill = (root: string) =>
    Effect.forEach(documentPaths, (path) => putUnder(root, path), { discard: true })
  return { port: Number(new URL(address).port), put: putUnder, fill }
})

/** The settings with which a service asks the store that is reached at this port. */
export const settingsFor = (port: number): Readonly<Record<string, string>> => ({
  S3_BUCKET: bucket,
  S3_ENDPOINT: `http://127.0.0.1:${port}`,
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test"
})
