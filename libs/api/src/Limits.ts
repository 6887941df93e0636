/**
 * The limits of a request, once: the server enforces them, the limits endpoint answers them and the
 * OpenAPI document publishes them. Those that are rules of the domain come from there.
 * Source: docs/contract/limits.md#requests.
 */
import { externalAccountNumberLength } from "@data-import/domain/account/Account"
import { listElements, nestingDepth } from "@data-import/domain/schema/Json"
import { supplierCodeLength } from "@data-import/domain/organisation/Supplier"

/** The largest body, in bytes. */
export const bodyBytes = 10 * 1024 * 1024

/** The largest body of the token mutation, which needs no token itself, in bytes. */
export const tokenBodyBytes = 64 * 1024

/** Request line and header fields together, in bytes. Source: docs/contract/limits.md#requests. */
export const headerBytes = 16 * 1024

/** The answer of the limits endpoint. */
export const limits = {
  body_bytes: bodyBytes,
  nesting_depth: nestingDepth,
  list_elements: listElements,
  import_supplier_length: supplierCodeLength,
  external_account_number_length: externalAccountNumberLength
} as const
