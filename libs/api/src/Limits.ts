/**
 * The limits of a request. The server enforces them, the limits endpoint returns them and the
 * OpenAPI document states them. Limits that are rules of the domain are defined there.
 * Source: docs/contract/limits.md#requests.
 */
import { externalAccountNumberLength } from "@data-import/domain/account/Account"
import { batchLimits } from "@data-import/domain/batch/BatchLine"
import { listElements, nestingDepth } from "@data-import/domain/schema/Json"
import { supplierCodeLength } from "@data-import/domain/organisation/Supplier"

/** The maximum size of a body, in bytes. */
export const bodyBytes = 10 * 1024 * 1024

/** The maximum size of the body of the token mutation, which needs no token, in bytes. */
export const tokenBodyBytes = 64 * 1024

/**
 * The maximum size of the request line and header fields together, in bytes. Source:
 * docs/contract/limits.md#requests.
 */
export const headerBytes = 16 * 1024

/** The response of the limits endpoint. */
export const limits = {
  body_bytes: bodyBytes,
  nesting_depth: nestingDepth,
  list_elements: listElements,
  import_supplier_length: supplierCodeLength,
  external_account_number_length: externalAccountNumberLength,
  batch_lines: batchLimits.lines,
  batch_bytes: batchLimits.bytes,
  batch_line_bytes: batchLimits.lineBytes,
  unfinished_batches: batchLimits.unfinishedBatches,
  unfinished_batch_bytes: batchLimits.bytesOfOrganisation
} as const
