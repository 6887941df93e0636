/**
 * The routing of the gateway: which service answers which paths. A path belongs to the first prefix
 * that it equals or continues after a slash; changes of an import belong to the service that stages
 * it. The service handles the rest: the trailing slash, the method, and unknown resources.
 */
import { bodyBytes, tokenBodyBytes } from "@data-import/api/Limits"
import { queryOf } from "@data-import/api/Parameter"

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
  /** The service of PATCH and POST requests, if it is another one. */
  readonly changes?: ServiceName
  /** The paths of which it answers every method. */
  readonly changesAt?: RegExp
  /** The largest body, in bytes. */
  readonly bodyBytes: number
  /** The paths whose PUT bodies are forwarded while they arrive, and are not limited. */
  readonly uploads?: RegExp
  /** The paths whose GET requests may wait for a change. */
  readonly waits?: RegExp
  /** The parameter with which they do so; without it they always do. */
  readonly waitsWith?: string
}

const entry = (prefix: string, service: ServiceName, limit = bodyBytes): Entry => ({
  prefix,
  service,
  bodyBytes: limit
})

const waitParameter = "wait"

export const table: ReadonlyArray<Entry> = [
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
    waits: /^\/v1\/data-import\/batches\/[^/]+\/$/,
    waitsWith: waitParameter
  },
  entry("/v1/data-import/certificates", "batches"),
  entry("/v1/data-import/control-totals", "batches"),
  entry("/.well-known/certificate-keys.json", "batches"),
  entry("/v1/data-import/accounts", "query"),
  {
    ...entry("/v1/data-import/imports", "query"),
    changes: "accountImport",
    changesAt: /^\/v1\/data-import\/imports\/[^/]+\/[^/]+\/revert\/?$/
  },
  entry("/v1/data-import/suppliers", "query"),
  {
    ...entry("/v1/data-import/events", "events"),
    waits: /^\/v1\/data-import\/events\/$/,
    waitsWith: waitParameter
  },
  entry("/v1/data-import/account-transfer-status", "query"),
  entry("/v1/data-import/all-account-import-processes", "query"),
  entry("/v1/data-import/pending-account-import-processes", "query"),
  entry("/v1/data-import/imported-account-import-processes", "query"),
  entry("/v1/data-import/limits", "query"),
  entry("/v1/graphql", "auth", tokenBodyBytes),
  entry("/.well-known/jwks.json", "auth"),
  { ...entry("/board", "board"), waits: /^\/board\/api\/changes\/$/ }
]

/** The entry of a path, as it was sent. */
export const find = (path: string): Entry | undefined =>
  table.find(({ prefix }) => path.startsWith(prefix) && (path[prefix.length] ?? "/") === "/")

/** The service of a request with this method. */
export const serviceOf = (
  { changes, changesAt, service }: Entry,
  method: string,
  path: string
): ServiceName => {
  const isChange = method === "PATCH" || method === "POST" || changesAt?.test(path) === true
  return changes !== undefined && isChange ? changes : service
}

/** The limit of the body of a request. */
export const bodyLimit = ({ bodyBytes, uploads }: Entry, method: string, path: string): BodyLimit =>
  method === "PUT" && uploads?.test(path) === true ? "streamed" : bodyBytes

/** The path and the query of a target; both are empty or begin with their delimiter. */
const divided = (target: string): readonly [path: string, search: string] => {
  const end = target.indexOf("?")
  return end === -1 ? [target, ""] : [target.slice(0, end), target.slice(end)]
}

/** Whether a query has the parameter, however its name is encoded: services decode it likewise. */
const has = (search: string, name: string): boolean => queryOf(search)?.[name] !== undefined

/** Whether the request may wait for a change; a service handles HEAD as GET. */
export const mayWait = ({ waits, waitsWith }: Entry, method: string, target: string): boolean => {
  if (waits === undefined || (method !== "GET" && method !== "HEAD")) return false
  const [path, search] = divided(target)
  return waits.test(path) && (waitsWith === undefined || has(search, waitsWith))
}

/** The target of the same request without a wait. */
export const withoutWait = (target: string): string => {
  const [path, search] = divided(target)
  const parts = search.slice(1).split("&")
  const atOnce = parts.map((part) => (has(`?${part}`, waitParameter) ? `${waitParameter}=0` : part))
  return search === "" ? path : `${path}?${atOnce.join("&")}`
}
