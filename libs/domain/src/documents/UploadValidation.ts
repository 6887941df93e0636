/**
 * The body that asks for an upload link, with its validator.
 * Source: docs/contract/import.md#uploading-documents.
 */
import { Schema } from "effect"
import { SupplierCodeField } from "../accounts/Account.ts"
import { DocumentPath } from "../schema/DocumentPath.ts"
import { formed, integer } from "../schema/Field.ts"
import { supplierExists } from "../schema/Rules.ts"
import { type Validator, validator } from "../schema/Validator.ts"

/** The size of the largest document that is uploaded through a link, in bytes. */
export const documentBytes = 100 * 1024 * 1024

export const UploadPayload = Schema.Struct({
  import_supplier: SupplierCodeField,
  document_path: DocumentPath,
  size: integer(1, documentBytes),
  sha256: formed((text) => /^[0-9a-f]{64}$/.test(text), {
    code: "invalid",
    detail: "Must be a SHA-256: 64 hexadecimal digits in lower case."
  }),
  compare: Schema.optionalKey(Schema.Boolean)
})
export type UploadPayload = typeof UploadPayload.Type

export const UploadRequest = Schema.Struct({ payload: UploadPayload })
export type UploadRequest = typeof UploadRequest.Type

export const uploadRequest: Validator<UploadRequest> = {
  ...validator({
    schema: UploadRequest,
    rules: { rules: [supplierExists] },
    wrapper: "payload"
  }),
  // The document is not uploaded yet, so it is not looked up.
  *documentsNamed() {
    return new Set()
  }
}
