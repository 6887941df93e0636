/** The addresses of the board's pages and of its API. */

type Query = Readonly<Record<string, string | null | undefined>>

const root = "/board/"
export const api = "/board/api/"

/** A path with the members of the query that have a value. */
export const withQuery = (path: string, query: Query): string => {
  const given = Object.entries(query).flatMap(([name, value]): Array<[string, string]> =>
    value === undefined || value === null || value === "" ? [] : [[name, value]]
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}

const migration = (supplier: string) => `${root}migrations/${encodeURIComponent(supplier)}/`
const migrationApi = (supplier: string) => `${api}migrations/${encodeURIComponent(supplier)}/`

export const pages = {
  migrations: (query: Query = {}) => withQuery(root, query),
  migration,
  problems: (supplier: string, query: Query = {}) =>
    withQuery(`${migration(supplier)}problems/`, query),
  /** A `cohort` of null lists the accounts without a cohort. */
  imports: (supplier: string, { cohort, ...query }: Query = {}) =>
    withQuery(`${migration(supplier)}imports/`, {
      ...query,
      ...(cohort === null ? { without_cohort: "true" } : { cohort })
    }),
  batch: (supplier: string, batch: string) =>
    `${migration(supplier)}batches/${encodeURIComponent(batch)}/`,
  lines: (supplier: string, batch: string, query: Query = {}) =>
    withQuery(`${migration(supplier)}batches/${encodeURIComponent(batch)}/lines/`, query),
  outcome: (supplier: string, batch: string, query: Query = {}) =>
    withQuery(`${migration(supplier)}batches/${encodeURIComponent(batch)}/outcome/`, query),
  wave: (supplier: string, cohort: string) =>
    withQuery(`${migration(supplier)}go-no-go/`, { cohort }),
  waves: (supplier: string, query: Query = {}) => withQuery(`${migration(supplier)}waves/`, query),
  forecasts: (supplier: string) => `${migration(supplier)}forecasts/`,
  certificates: (supplier: string, query: Query = {}) =>
    withQuery(`${migration(supplier)}certificates/`, query),
  certificate: (supplier: string, id: string, query: Query = {}) =>
    withQuery(`${migration(supplier)}certificates/${encodeURIComponent(id)}/`, query),
  account: (supplier: string, number: string) =>
    `${migration(supplier)}imports/${encodeURIComponent(number)}/`,
  programme: (query: Query = {}) => withQuery(`${root}programme/`, query),
  audit: (query: Query = {}) => withQuery(`${root}audit/`, query),
  alerts: `${root}alerts/`
}

/** Whether the page is refused to a user of the supplier. */
export const isClosedToSupplier = (to: string): boolean =>
  [pages.audit(), pages.alerts].some((closed) => to.startsWith(closed)) || to.includes("/go-no-go/")

export const answers = {
  session: `${api}session/`,
  teams: `${api}teams/`,
  signOut: `${api}sign-out/`,
  prolong: `${api}session/prolong/`,
  alerts: `${api}alerts/`,
  testAlerts: `${api}alerts/test/`,
  programme: (query: Query = {}) => withQuery(`${api}programme/`, query),
  programmeFile: (query: Query = {}) => withQuery(`${api}programme.pdf`, query),
  migrations: `${api}migrations/`,
  migration: migrationApi,
  of: (supplier: string, rest: string, query: Query = {}) =>
    withQuery(`${migrationApi(supplier)}${rest}`, query),
  account: (supplier: string, number: string, rest = "") =>
    `${migrationApi(supplier)}imports/${encodeURIComponent(number)}/${rest}`,
  ofBatch: (supplier: string, id: string, rest = "", query: Query = {}) =>
    withQuery(`${migrationApi(supplier)}batches/${encodeURIComponent(id)}/${rest}`, query),
  certificate: (supplier: string, id: string, rest = "") =>
    `${migrationApi(supplier)}certificates/${encodeURIComponent(id)}/${rest}`,
  batch: (id: string, rest: string) => `${api}batches/${encodeURIComponent(id)}/${rest}`,
  audit: (query: Query) => withQuery(`${api}audit/`, query),
  auditFile: (query: Query) => withQuery(`${api}audit.csv`, query)
}

/** A page of the board, with what its path names. */
export type Page =
  | { readonly name: "migrations" }
  | { readonly name: "audit" | "alerts" | "programme" }
  | { readonly name: "migration" | "problems" | "imports"; readonly supplier: string }
  | { readonly name: "forecasts" | "certificates" | "wave" | "waves"; readonly supplier: string }
  | { readonly name: "certificate"; readonly supplier: string; readonly certificate: string }
  | { readonly name: "account"; readonly supplier: string; readonly number: string }
  | {
      readonly name: "batch" | "lines" | "outcome"
      readonly supplier: string
      readonly batch: string
    }
  | { readonly name: "unknown" }

const decoded = (part: string): string | null => {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

/** The page at a path; a final slash may be missing. */
export const pageAt = (path: string): Page => {
  const unknown = { name: "unknown" } as const
  if (!`${path}/`.startsWith(root)) return unknown
  const parts = path.slice(root.length).split("/").map(decoded)
  if (parts.at(-1) === "") parts.pop()
  const [kind, supplier, list, number, rest] = parts
  if (kind === undefined) return { name: "migrations" }
  const isOwn = kind === "audit" || kind === "alerts" || kind === "programme"
  if (isOwn && parts.length === 1) return { name: kind }
  if (kind !== "migrations" || !supplier) return unknown
  if (list === "batches" && number && parts.length === 5) {
    return rest === "lines" || rest === "outcome"
      ? { name: rest, supplier, batch: number }
      : unknown
  }
  if (parts.length > 4) return unknown
  if (list === undefined) return { name: "migration", supplier }
  if (list === "problems" && parts.length === 3) return { name: "problems", supplier }
  if (list === "go-no-go" && parts.length === 3) return { name: "wave", supplier }
  if (list === "waves" && parts.length === 3) return { name: "waves", supplier }
  if (list === "forecasts" && parts.length === 3) return { name: "forecasts", supplier }
  if (list === "certificates") {
    if (parts.length === 3) return { name: "certificates", supplier }
    return number ? { name: "certificate", supplier, certificate: number } : unknown
  }
  if (list === "batches" && number) return { name: "batch", supplier, batch: number }
  if (list !== "imports") return unknown
  if (parts.length === 3) return { name: "imports", supplier }
  return number ? { name: "account", supplier, number } : unknown
}
