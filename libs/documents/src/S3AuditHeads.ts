/** Exports of the audit log in a bucket, whose objects are written once. */
import {
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client
} from "@aws-sdk/client-s3"
import { type Config, Effect, Layer, Option } from "effect"
import { AuditHeadStore } from "@data-import/domain/audit/AuditHeadStore"
import { DocumentsUnavailable } from "@data-import/domain/documents/Documents"
import { auditHeads } from "./ReservedKeys.ts"
import { clientOf, type S3Settings, send, settings } from "./S3Documents.ts"
import { lacksCredentials, misconfigured, refusalCode, refusalStatus } from "./StoreRefusal.ts"
import { extension, unzip, zip } from "./Zipped.ts"

/**
 * Milliseconds. They are longer than for documents, because an export is larger than an answer
 * about a document.
 */
const times = { connectionTimeout: 1_000, requestTimeout: 300_000 }

/** How many keys are listed at once, because the client limits the size of an answer. */
const keysAtOnce = 100

const alreadyThere = 412

const make = Effect.fnUntraced(function* (store: S3Settings) {
  const client: S3Client = yield* clientOf(store, times)
  const Bucket = store.bucket
  const keyOf = (name: string): string => `${auditHeads}${name}${extension}`

  const explain = (cause: unknown): Effect.Effect<never, DocumentsUnavailable> => {
    if (lacksCredentials(cause)) return misconfigured(Bucket, "CredentialsProviderError")
    return refusalStatus(cause) === null
      ? Effect.fail(new DocumentsUnavailable({ cause }))
      : misconfigured(Bucket, refusalCode(cause))
  }

  const keysAfter = (Prefix: string, StartAfter: string | undefined) =>
    send((options) => {
      const command = { Bucket, Prefix, MaxKeys: keysAtOnce, StartAfter }
      return client.send(new ListObjectsV2Command(command), options)
    }).pipe(
      Effect.map(({ Contents = [] }) => Contents.map(({ Key = "" }) => Key)),
      Effect.catch(explain)
    )

  const lastKey = Effect.gen(function* () {
    let last: string | undefined
    for (;;) {
      const keys = yield* keysAfter(auditHeads, last)
      if (keys.length === 0) return last
      last = keys.at(-1)
    }
  })

  const read = (Key: string) =>
    send(async (options) => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }), options)
      return unzip((await Body?.transformToByteArray()) ?? new Uint8Array())
    }).pipe(Effect.catch(explain))

  return AuditHeadStore.of({
    isKept: (name) =>
      Effect.map(keysAfter(keyOf(name), undefined), (keys) => keys.includes(keyOf(name))),
    keep: (name, text) =>
      Effect.flatMap(zip(text), (Body) =>
        send((options) => {
          const object = { Bucket, Key: keyOf(name), Body, IfNoneMatch: "*" }
          return client.send(new PutObjectCommand(object), options)
        }).pipe(
          Effect.as(true),
          Effect.catch((cause) =>
            refusalStatus(cause) === alreadyThere ? Effect.succeed(false) : explain(cause)
          )
        )
      ),
    latest: Effect.gen(function* () {
      const key = yield* lastKey
      if (key === undefined) return Option.none()
      const name = key.slice(auditHeads.length).replace(extension, "")
      return Option.some({ name, text: yield* read(key) })
    })
  })
})

/** Reads the settings of the document store. */
export const layerS3: Layer.Layer<AuditHeadStore, Config.ConfigError> = Layer.unwrap(
  Effect.map(settings, (store) => Layer.effect(AuditHeadStore, make(store)))
)
