/**
 * Which service answers which paths. The whole routing of the gateway: a path belongs to the first
 * prefix that it equals or continues after a slash; the service itself decides on the rest, its
 * trailing slash, its method and what does not exist.
 */

/** The services behind the gateway. */
export type ServiceName = "accountImport" | "postImport" | "query" | "auth"

export const table: ReadonlyArray<readonly [prefix: string, service: ServiceName]> = [
  ["/v1/data-import/validate-account", "accountImport"],
  ["/v1/data-import/account-import-process", "accountImport"],
  ["/v1/data-import/notes", "postImport"],
  ["/v1/data-import/transactions", "postImport"],
  ["/v1/data-import/historical-statements", "postImport"],
  ["/v1/data-import/payment-instruction", "postImport"],
  ["/v1/data-import/account-transfer-status", "query"],
  ["/v1/data-import/all-account-import-processes", "query"],
  ["/v1/data-import/pending-account-import-processes", "query"],
  ["/v1/data-import/imported-account-import-processes", "query"],
  ["/v1/data-import/limits", "query"],
  ["/v1/graphql", "auth"],
  ["/.well-known/jwks.json", "auth"]
]

/** The entry of a path, as it was sent. */
export const find = (path: string): (typeof table)[number] | undefined =>
  table.find(([prefix]) => path.startsWith(prefix) && (path[prefix.length] ?? "/") === "/")
