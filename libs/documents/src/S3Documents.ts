/**
 * The document store on object storage that speaks S3: AWS itself or any compatible server. It
 * requests the head of an object and, if that is refused, the reason; it signs links locally.
 */
import { Readable } from "node:stream"
import type { StoredDocument } from "@data-import/domain/accounts/StoredDocument"
import {
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  PutObjectCommand,
  S3Client
} from "@aws-sdk/client-s3"
import { getSignedUrl } from "@aws-sdk/s3-request-presigner"
import { NodeHttpHandler, type NodeHttpHandlerOptions } from "@smithy/node-http-handler"
import { Clock, Config, DateTime, Duration, Effect, Layer, Option } from "effect"
import { type DocumentPath, relativePath } from "@data-import/domain/schema/DocumentPath"
import { Documents, DocumentsUnavailable } from "@data-import/domain/documents/Documents"
import * as Settings from "@data-import/domain/support/Settings"
import { isReserved } from "./ReservedKeys.ts"
import { lacksCredentials, misconfigured, refusalCode, refusalStatus } from "./StoreRefusal.ts"
import { traced } from "@data-import/domain/support/Traced"

/** Timeouts of one try, in milliseconds. Three tries together end before the gateway gives up. */
const times = { connectionTimeout: 1_000, requestTimeout: 3_000 }
const attempts = 3
const wholeTime = Duration.seconds(10)

/** How long a bucket that existed is assumed to exist, when a 404 could be about it. */
const bucketTrustedFor = Duration.minutes(1)

/** Only errors are read, and those of S3 are shorter. Bytes. */
const longestBody = 64 * 1024

/**
 * A longer ETag or checksum counts as absent, because stores need not return one. Those of S3 are
 * shorter. They are stored with each reference to the document.
 */
const longestDigest = 256

/** The maximum length of a key in S3, in bytes of UTF-8. */
const longestKey = 1024

export interface S3Settings {
  readonly bucket: string
  readonly region: string
  /** For a server other than AWS. */
  readonly endpoint: Option.Option<URL>
  /** The address under which clients reach the server, for links. */
  readonly publicEndpoint: Option.Option<URL>
  /** Whether the bucket stands in the path, as most compatible servers want it, or in the host. */
  readonly pathStyle: boolean
}

/** Reads the body of an error. A body that is too large is an error itself, and is destroyed. */
const readBody = async (body: Readable): Promise<Uint8Array> => {
  const chunks: Array<Buffer> = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > longestBody) throw new Error(`The store answers more than ${longestBody} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

type ClientSettings = Pick<S3Settings, "endpoint" | "pathStyle" | "region">

/** A client until the scope ends; each try takes at most these times. */
export const clientOf = (
  { endpoint, pathStyle, region }: ClientSettings,
  limits: NodeHttpHandlerOptions = times
) =>
  Effect.acquireRelease(
    Effect.sync(
      () =>
        new S3Client({
          region,
          forcePathStyle: pathStyle,
          maxAttempts: attempts,
          // Compatible servers refuse the checksums that the client would add by default.
          requestChecksumCalculation: "WHEN_REQUIRED",
          responseChecksumValidation: "WHEN_REQUIRED",
          streamCollector: readBody,
          requestHandler: new NodeHttpHandler(limits),
          ...(Option.isSome(endpoint) ? { endpoint: endpoint.value.href } : {})
        })
    ),
    (client) => Effect.sync(() => client.destroy())
  )

const digestOf = (value: string | undefined): string | null =>
  value === undefined || value.length > longestDigest ? null : value

const checksumOf = (head: HeadObjectCommandOutput): string | null => {
  const { ChecksumCRC32, ChecksumCRC32C, ChecksumCRC64NVME, ChecksumSHA1, ChecksumSHA256 } = head
  const known = {
    SHA256: ChecksumSHA256,
    SHA1: ChecksumSHA1,
    CRC64NVME: ChecksumCRC64NVME,
    CRC32C: ChecksumCRC32C,
    CRC32: ChecksumCRC32
  }
  const first = Object.entries(known).find(([, value]) => digestOf(value) !== null)
  return first === undefined ? null : first.join(":")
}

const documentOf = (head: HeadObjectCommandOutput): StoredDocument => ({
  size: head.ContentLength ?? 0,
  etag: digestOf(head.ETag),
  checksum: checksumOf(head)
})

/** The key of an object; a root is written with or without slashes around it. */
const keyOf = (root: string, path: DocumentPath): string =>
  [root.replace(/^\/+|\/+$/g, ""), relativePath(path)].filter((part) => part !== "").join("/")

interface ObjectKey {
  readonly Bucket: string
  readonly Key: string
}

export const send = <A>(request: (options: { readonly abortSignal: AbortSignal }) => Promise<A>) =>
  Effect.tryPromise({ try: (abortSignal) => request({ abortSignal }), catch: (cause) => cause })

/** The code of a refusal, which HEAD does not return; None if the store no longer refuses. */
const diagnose = (client: S3Client, input: ObjectKey) =>
  send(async (options) => {
    const command = new GetObjectCommand({ ...input, Range: "bytes=0-0" })
    const { Body } = await client.send(command, options)
    if (Body instanceof Readable) Body.destroy()
  }).pipe(
    Effect.as(Option.none<string>()),
    Effect.catch((cause) =>
      Effect.succeed(
        refusalStatus(cause) === null ? Option.none() : Option.some(refusalCode(cause))
      )
    )
  )

/** Makes the function that looks up an object. */
const makeLookUp = (client: S3Client) => {
  let bucketSeenAt = -Infinity
  const markBucketSeen = Effect.map(Clock.currentTimeMillis, (now) => void (bucketSeenAt = now))
  const wasBucketSeen = Effect.map(
    Clock.currentTimeMillis,
    (now) => now < bucketSeenAt + Duration.toMillis(bucketTrustedFor)
  )

  const explain = Effect.fnUntraced(function* (cause: unknown, input: ObjectKey) {
    if (lacksCredentials(cause)) {
      return yield* misconfigured(input.Bucket, "CredentialsProviderError")
    }
    const status = refusalStatus(cause)
    if (status === null) return yield* new DocumentsUnavailable({ cause })
    if (status === 404 && (yield* wasBucketSeen)) return Option.none<StoredDocument>()
    const code = yield* diagnose(client, input)
    if (Option.isNone(code)) return yield* new DocumentsUnavailable({ cause })
    if (status !== 404 || code.value === "NoSuchBucket") {
      return yield* misconfigured(input.Bucket, code.value)
    }
    yield* markBucketSeen
    return Option.none<StoredDocument>()
  })

  return (input: ObjectKey) =>
    send((options) =>
      client.send(new HeadObjectCommand({ ...input, ChecksumMode: "ENABLED" }), options)
    ).pipe(
      Effect.tap(markBucketSeen),
      Effect.map((found) => Option.some(documentOf(found))),
      Effect.catch((cause) => explain(cause, input))
    )
}

/**
 * Signed into a link, so that a browser saves the file under its name, whatever type it was
 * uploaded with, and never shows it as a page of the store's origin.
 */
const downloadOnly = (path: DocumentPath) => {
  const name = relativePath(path).split("/").at(-1) ?? ""
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`
  )
  return {
    ResponseContentType: "application/octet-stream",
    ResponseContentDisposition: `attachment; filename*=UTF-8''${encoded}`
  }
}

/** What an upload must send as it was signed. By default the checksum would move into the link. */
const boundHeaders = {
  unhoistableHeaders: new Set(["x-amz-checksum-sha256"]),
  signableHeaders: new Set(["host", "content-length", "if-none-match", "x-amz-checksum-sha256"])
}

const make = Effect.fnUntraced(function* (settings: S3Settings) {
  const client = yield* clientOf(settings)
  const { publicEndpoint } = settings
  const signer = Option.isSome(publicEndpoint)
    ? yield* clientOf({ ...settings, endpoint: publicEndpoint })
    : client
  const lookUp = makeLookUp(client)

  const signed = Effect.fnUntraced(function* (
    command: GetObjectCommand | PutObjectCommand,
    lifetime: Duration.Duration,
    headers: Partial<typeof boundHeaders> = {}
  ) {
    const signingDate = yield* DateTime.nowAsDate
    const expiresIn = Math.ceil(Duration.toSeconds(lifetime))
    const link = yield* Effect.tryPromise({
      try: () => getSignedUrl(signer, command, { expiresIn, signingDate, ...headers }),
      catch: (cause) => new DocumentsUnavailable({ cause })
    })
    return new URL(link)
  })

  const at = (root: string, path: DocumentPath): ObjectKey => ({
    Bucket: settings.bucket,
    Key: keyOf(root, path)
  })

  return Documents.of({
    find: traced("Documents.find")((root, path) => {
      const input = at(root, path)
      if (Buffer.byteLength(input.Key) > longestKey) return Effect.succeedNone
      return Effect.timeoutOrElse(lookUp(input), {
        duration: wholeTime,
        orElse: () => Effect.fail(new DocumentsUnavailable({}))
      })
    }),
    readLink: traced("Documents.readLink")((root, path, lifetime) =>
      Effect.asSome(
        signed(new GetObjectCommand({ ...at(root, path), ...downloadOnly(path) }), lifetime)
      )
    ),
    uploadLink: traced("Documents.uploadLink")(
      Effect.fnUntraced(function* (root, path, { sha256, size }, lifetime) {
        const input = at(root, path)
        if (Buffer.byteLength(input.Key) > longestKey || isReserved(input.Key)) return Option.none()
        const checksum = Buffer.from(sha256, "hex").toString("base64")
        const command = new PutObjectCommand({
          ...input,
          ContentLength: size,
          ChecksumSHA256: checksum,
          IfNoneMatch: "*"
        })
        const url = yield* signed(command, lifetime, boundHeaders)
        return Option.some({
          url,
          headers: {
            "content-length": String(size),
            "if-none-match": "*",
            "x-amz-checksum-sha256": checksum
          }
        })
      })
    )
  })
})

/** The store in a bucket; credentials come from the standard chain of the AWS tools. */
const layerWith = (settings: S3Settings): Layer.Layer<Documents> =>
  Layer.effect(Documents, make(settings))

/**
 * `S3_BUCKET`, `S3_REGION` (us-east-1), `S3_ENDPOINT`, `S3_PUBLIC_ENDPOINT` (as `S3_ENDPOINT`) and
 * `S3_PATH_STYLE` (true).
 */
export const settings: Config.Config<S3Settings> = Config.all({
  bucket: Settings.text("S3_BUCKET").required,
  region: Settings.text("S3_REGION").or("us-east-1"),
  endpoint: Settings.url("S3_ENDPOINT", ["http:", "https:"]).optional,
  publicEndpoint: Settings.url("S3_PUBLIC_ENDPOINT", ["http:", "https:"]).optional,
  pathStyle: Settings.boolean("S3_PATH_STYLE").or(true)
})

/** Reads the settings. */
export const layerS3: Layer.Layer<Documents, Config.ConfigError> = Layer.unwrap(
  Effect.map(settings, layerWith)
)
