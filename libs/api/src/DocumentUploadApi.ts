/**
 * Links with which a supplier uploads documents to the store.
 * Source: docs/contract/import.md#uploading-documents.
 */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { storedStates } from "@data-import/domain/documents/DocumentUpload"
import { UploadPayload } from "@data-import/domain/documents/UploadValidation"
import { keyWords } from "./AccountBody.ts"
import { requires } from "./Authorization.ts"
import { InstantText } from "./DecimalSchema.ts"
import { documented } from "./Documented.ts"
import { anyBody, anyProtected, errorBodies } from "./ErrorBody.ts"
import { uploadAnswer, uploadRequest } from "./Examples.ts"
import { created, operation } from "./Operation.ts"

const UploadRequestBody = Schema.Struct({
  payload: documented("UploadPayload", "The file that is to be put.", UploadPayload, {
    import_supplier: keyWords.import_supplier,
    document_path: {
      description: "Where it is to be, as in the fields that name documents.",
      examples: [uploadRequest.payload.document_path]
    },
    size: { description: "Its size in bytes.", examples: [uploadRequest.payload.size] },
    sha256: {
      description: "The SHA-256 of its bytes: 64 hexadecimal digits in lower case.",
      examples: [uploadRequest.payload.sha256]
    },
    compare: {
      description: "Whether to compare it with what is stored at the path; default false.",
      examples: [true]
    }
  })
}).annotate({ identifier: "UploadRequest", description: "A document to upload." })

const UploadLinkBody = Schema.Struct({
  document_path: Schema.String.annotate({ description: "The path, as it is to be named." }),
  url: Schema.String.annotate({
    description: "Where to PUT the bytes of the file. It is a secret until it expires."
  }),
  headers: Schema.Record(Schema.String, Schema.String).annotate({
    description: "The headers that the PUT must have, with exactly these values."
  }),
  expires_at: InstantText.annotateKey({ description: "When the link can no longer be used." }),
  stored: Schema.optionalKey(Schema.Literals(storedStates)).annotateKey({
    description:
      "With `compare`: what is stored at the path. UNKNOWN is a file of this size whose SHA-256 the " +
      "store does not tell."
  })
}).annotate({ identifier: "UploadLink", description: "A link to put one file." })

export const createDocumentUpload = HttpApiEndpoint.post(
  "createDocumentUpload",
  "/v1/data-import/documents/",
  {
    payload: UploadRequestBody,
    success: created(UploadLinkBody),
    error: errorBodies([
      "request_failed_validation",
      "import_supplier_migration_not_ongoing",
      ...anyBody,
      ...anyProtected
    ])
  }
)
  .annotateMerge(
    operation(
      "Upload a document",
      "Answers a link with which this very file can be put at its path in the document store, for " +
        "15 minutes and without other credentials. The store refuses other bytes, and answers 412 " +
        "where a file is already at the path: nothing is ever replaced.",
      {
        requests: { statement: { summary: "A statement", value: uploadRequest } },
        answers: { 201: { link: { summary: "The link", value: uploadAnswer } } }
      }
    )
  )
  .pipe(requires("import:write"))
