/**
 * The routing of the gateway: which service answers which paths. A path belongs to the first prefix
 * that it equals or continues after a slash; changes of an import belong to the service that stages
 * it. The service handles the rest: the trailing slash, the method, and unknown resources.
 */
import { bodyBytes, tokenBodyBytes } from "@data-import/api/Limits"

/** The services behind the gateway. */
export type ServiceName =
  | "accountImport"
  | "postImport"
  | "batches"
  | "events"
  | "query"
  | "auth"
  | "board"

/** The maximum size of a body that is read whole, in bytes. A streamed one has no limit. */
export type BodyLimit = number | "streamed"

export interface Entry {
  readonly prefix: string
  readonly service: ServiceName
  /** The service of PATCH requests, if it is another one. */
  readonly changes?: ServiceName
  /** The largest body, in bytes. */
  readonly bodyBytes: number
  /** The paths whose PUT bodies are forwarded while they arrive, and are not limited. */
  readonly uploads?: RegExp
  /** The targets of GET requests that may wait for a change. */
  readonly waits?: RegExp
}

const entry = (prefix: string, service: ServiceName, limit = bodyBytes): Entry => ({
  prefix,
  service,
  bodyBytes: limit
})

const table: ReadonlyArray<Entry> = [
  entry("/v1/data-import/validate-account", "accountImport"),
  entry("/v1/data-import/account-import-process", "accountImport"),
  entry("/v1/data-import/documents", "accountImport"),
  entry("/v1/data-import/sandbox", "accountImport"),
  entry("/v1/data-import/notes", "postImport"),
  entry("/v1/data-import/transactions", "postImport"),
  entry("/v1/data-import/historical-statements", "postImport"),
  entry("/v1/data-import/payment-instruction", "postImport"),
  {
    ...entry("/v1/data-import/batches", "batches"),
    uploads: /^\/v1\/data-import\/batches\/[^/]+\/lines\/?$/,
    waits: /^\/v1\/data-import\/batches\/[^/?]+\/\?(?:.*&)?wait=/
  },
  entry("/v1/data-import/accounts", "query"),
  { ...entry("/v1/data-import/imports", "query"), changes: "accountImport" },
  entry("/v1/data-import/suppliers", "query"),
  {
    ...entry("/v1/data-import/events", "events"),
    waits: /^\/v1\/data-import\/events\/\?(?:.*&)?wait=/
  },
  entry("/v1/data-import/account-transfer-status", "query"),
  entry("/v1/data-import/all-account-import-processes", "query"),
  entry("/v1/data-import/pending-account-import-processes", "query"),
  entry("/v1/data-import/imported-account-import-processes", "query"),
  entry("/v1/data-import/limits", "query"),
  entry("/v1/graphql", "auth", tokenBodyBytes),
  entry("/.well-known/jwks.json", "auth"),
  { ...entry("/board", "board"), waits: /^\/board\/api\/changes\/(?:\?|$)/ }
]

/** The entry of a path, as it was sent. */
export const find = (path: string): Entry | undefined =>
  table.find(({ prefix }) => path.startsWith(prefix) && (path[prefix.length] ?? "/") === "/")

/** The service of a request with this method. */
export const serviceOf = ({ changes, service }: Entry, method: string): ServiceName =>
  method === "PATCH" && changes !== undefined ? changes : service

/** The limit of the body of a request. */
export const bodyLimit = ({ bodyBytes, uploads }: Entry, method: string, path: string): BodyLimit =>
  method === "PUT" && uploads?.test(path) === true ? "streamed" : bodyBytes

/** Whether the request may wait for a change; `url` is the path with the query. */
export const mayWait = ({ waits }: Entry, method: string, url: string): boolean =>
  method === "GET" && waits?.test(url) === true
