/**
 * Puts a document into the store: requests a link, and uploads the bytes to it.
 * Source: docs/contract/import.md#uploading-documents.
 */
import { Effect } from "effect"
import { HttpBody, type HttpClient, HttpClientRequest } from "effect/http"
import { attempting, transportError } from "./Calls.ts"
import { type CallError, UnexpectedAnswer } from "./Errors.ts"
import type { Answer, ErrorOf, Operations } from "./Operations.ts"

export interface DocumentToUpload {
  readonly import_supplier: string
  /** The path of the document, as in the fields that name documents. */
  readonly document_path: string
  readonly content: Uint8Array
  /** Whether to compare with what is stored first: bytes are sent only if there is no file. */
  readonly compare?: boolean
}

export interface UploadedDocument {
  readonly document_path: string
  /** Whether a file already existed at the path. It was not replaced, whatever its content. */
  readonly existed: boolean
  /** With `compare`: what was stored at the path before. */
  readonly stored?: Answer<"accountImport", "createDocumentUpload">["stored"]
}

export interface DocumentFlows {
  /** Uploads a document. It may be repeated. */
  readonly uploadDocument: (
    document: DocumentToUpload
  ) => Effect.Effect<UploadedDocument, ErrorOf<"accountImport", "createDocumentUpload">>
}

const hexadecimal = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("")

const sha256 = (bytes: Uint8Array): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)),
    hexadecimal
  )

export const documentFlows = (
  { accountImport }: Operations,
  httpClient: HttpClient.HttpClient,
  settings: { readonly deadline: number; readonly retries: number }
): DocumentFlows => {
  const put = (url: string, headers: Readonly<Record<string, string>>, content: Uint8Array) =>
    HttpClientRequest.put(url).pipe(
      HttpClientRequest.setBody(HttpBody.uint8Array(content)),
      HttpClientRequest.setHeaders(headers),
      httpClient.execute,
      Effect.tap((response) => response.text),
      Effect.mapError((error): CallError => transportError(error)),
      Effect.flatMap(({ status: statusCode }) => {
        const isThere = statusCode === 412
        if (isThere || (statusCode >= 200 && statusCode < 300)) return Effect.succeed(isThere)
        const detail = "the document store refused the upload"
        return Effect.fail(new UnexpectedAnswer({ statusCode, requestId: null, detail }))
      })
    )
  return {
    uploadDocument: ({ compare = false, content, document_path, import_supplier }) =>
      Effect.gen(function* () {
        const payload = {
          import_supplier,
          document_path,
          size: content.length,
          sha256: yield* sha256(content),
          ...(compare && { compare })
        }
        const link = yield* accountImport.createDocumentUpload({ payload: { payload } })
        const { headers, stored: before, url } = link
        const told = before === undefined ? {} : { stored: before }
        if (compare && before !== "ABSENT") return { document_path, existed: true, ...told }
        const stored = attempting(put(url, headers, content), settings)
        const existed = yield* stored as Effect.Effect<
          boolean,
          ErrorOf<"accountImport", "createDocumentUpload">
        >
        return { document_path, existed, ...told }
      })
  }
}
