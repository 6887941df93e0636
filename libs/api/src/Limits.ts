/**
 * The limits of a request. The server enforces them, the limits endpoint returns them and the
 * OpenAPI document states them. Limits that are rules of the domain are defined there.
 * Source: docs/contract/limits.md#requests.
 */
import { externalAccountNumberLength } from "@data-import/domain/accounts/Account"
import type { BatchLimits } from "@data-import/domain/batches/BatchLimits"
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import { listElements, nestingDepth } from "@data-import/domain/schema/Json"
import { supplierCodeLength } from "@data-import/domain/suppliers/Supplier"

/** The maximum size of a body, in bytes. */
export const bodyBytes = 10 * 1024 * 1024

/** The maximum size of the body of the token mutation, which needs no token, in bytes. */
export const tokenBodyBytes = 64 * 1024

/**
 * The maximum size of the request line and header fields together, in bytes. Source:
 * docs/contract/limits.md#requests.
 */
export const headerBytes = 16 * 1024

/** The longest time that a request waits for a change, in seconds. */
export const longestWait = 20

/** The response of the limits endpoint in a deployment with these limits of batches. */
export const limitsOf = (batch: BatchLimits) => ({
  body_bytes: bodyBytes,
  nesting_depth: nestingDepth,
  list_elements: listElements,
  import_supplier_length: supplierCodeLength,
  external_account_number_length: externalAccountNumberLength,
  batch_lines: batch.lines,
  batch_bytes: batch.bytes,
  batch_line_bytes: batchLimits.lineBytes,
  unfinished_batches: batch.unfinishedBatches,
  unfinished_batch_bytes: batch.bytesOfOrganisation
})

/** The limits of a deployment that does not lower them. */
export const limits = limitsOf(batchLimits)
