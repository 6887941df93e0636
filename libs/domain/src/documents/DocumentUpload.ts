/**
 * Issues links with which a supplier uploads documents to the store, so that it needs no
 * credentials of the bucket.
 * Source: docs/contract/import.md#uploading-documents.
 */
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import type { Caller } from "../suppliers/Organisation.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { Documents, type DocumentUpload as File } from "./Documents.ts"
import {
  documentsUnavailable,
  type Failure,
  unavailable,
  ValidationFailed
} from "../requests/Failure.ts"
import type { StoredDocument } from "../accounts/StoredDocument.ts"
import type { DocumentPath } from "../schema/DocumentPath.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import * as DocumentLookup from "./DocumentLookup.ts"
import { makeRequestValidator, payloadOf, requireOngoing } from "../requests/RequestValidation.ts"
import { uploadRequest } from "./UploadValidation.ts"
import { traced } from "../support/Traced.ts"

const code = "request_failed_validation"

/** How long a link may be used. */
const lifetime = Duration.minutes(15)

/** What the store has at the path, compared with the file that is to be uploaded. */
export const storedStates = ["ABSENT", "SAME", "DIFFERS", "UNKNOWN"] as const
export type StoredState = (typeof storedStates)[number]

export interface UploadGranted {
  readonly document_path: DocumentPath
  readonly url: string
  /** The headers that the upload must have, with these values. */
  readonly headers: Readonly<Record<string, string>>
  readonly expires_at: DateTime.Utc
  /** Only if the request asks to compare. */
  readonly stored?: StoredState
}

/** Of a whole file. One that was put in parts has a checksum of those of its parts. */
const ofWholeFile = /^SHA256:[A-Za-z0-9+/]{43}=$/

const base64Of = (hexadecimal: string): string =>
  btoa(hexadecimal.replaceAll(/../g, (byte) => String.fromCharCode(Number.parseInt(byte, 16))))

/** Bytes of the same size can be compared only if the store has their SHA-256. */
const comparedWith = (
  { sha256, size }: File,
  found: Option.Option<StoredDocument>
): StoredState => {
  if (Option.isNone(found)) return "ABSENT"
  const { checksum, size: storedSize } = found.value
  if (storedSize !== size) return "DIFFERS"
  if (checksum === null || !ofWholeFile.test(checksum)) return "UNKNOWN"
  return checksum === `SHA256:${base64Of(sha256)}` ? "SAME" : "DIFFERS"
}

const noPlace = {
  attr: "document_path",
  code: "invalid_document_path",
  detail: "The document store takes no upload at this path."
} as const satisfies FieldError

export class DocumentUpload extends Context.Service<
  DocumentUpload,
  {
    /**
     * A link for one file at one path. `parameterErrors` are reported before the errors of the
     * body.
     */
    readonly grant: (
      caller: Caller,
      body: unknown,
      parameterErrors?: ReadonlyArray<FieldError>
    ) => Effect.Effect<UploadGranted, Failure>
  }
>()("@data-import/domain/DocumentUpload") {}

const make = Effect.gen(function* () {
  const documents = yield* Documents
  const lookup = yield* DocumentLookup.DocumentLookup
  const requestValidator = makeRequestValidator(yield* Configuration, lookup)

  const grant = Effect.fnUntraced(function* (
    caller: Caller,
    body: unknown,
    parameterErrors: ReadonlyArray<FieldError>
  ) {
    const valid = yield* requestValidator.validate({
      validator: uploadRequest,
      caller,
      body,
      payload: payloadOf(body),
      code,
      parameterErrors
    })
    yield* requireOngoing(valid.supplier)
    const { compare = false, document_path, sha256, size } = valid.body.payload
    const { documentRoot } = valid.supplier
    const file = { size, sha256 }
    const link = yield* documents.uploadLink(documentRoot, document_path, file, lifetime)
    if (Option.isNone(link)) return yield* new ValidationFailed({ code, errors: [noPlace] })
    const { headers, url } = link.value
    const expires_at = DateTime.addDuration(valid.now, lifetime)
    const granted: UploadGranted = { document_path, url: url.href, headers, expires_at }
    if (!compare) return granted
    const found = yield* documents.find(documentRoot, document_path)
    return { ...granted, stored: comparedWith(file, found) }
  })

  return DocumentUpload.of({
    grant: traced("DocumentUpload.grant")((caller, body, parameterErrors = []) =>
      grant(caller, body, parameterErrors).pipe(
        Effect.catchTags({
          StorageUnavailable: () => unavailable,
          DocumentsUnavailable: () => documentsUnavailable
        })
      )
    )
  })
})

/** Needs the configuration and the document store. */
export const layer = Layer.effect(DocumentUpload, make).pipe(Layer.provide(DocumentLookup.layer))
