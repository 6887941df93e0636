/**
 * The limits of a request, once: the server enforces them, the limits endpoint answers them and the
 * OpenAPI document publishes them. Source: decisions, "Wire rules".
 */

/** The largest body, in bytes. */
export const bodyBytes = 10 * 1024 * 1024

/** The deepest nesting of a body; its outermost object is depth 1. */
export const nestingDepth = 32

/** The most elements in any one list. */
export const listElements = 10_000

export const limits = {
  body_bytes: bodyBytes,
  nesting_depth: nestingDepth,
  list_elements: listElements,
  import_supplier_length: 32,
  external_account_number_length: 128
} as const
