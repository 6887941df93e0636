/** PostgreSQL: prepared statements on a pool, and what few operators change kept for a second. */
import pg from "pg"
import type { Caller } from "./Auth.ts"
import type { Documents } from "./Documents.ts"
import type { Key } from "./Requests.ts"
import type { Statement } from "./Statements.ts"
import type { Setup } from "./Setup.ts"

// Dates and decimals stay text, so that no precision is lost.
pg.types.setTypeParser(pg.types.builtins.DATE, String)
pg.types.setTypeParser(pg.types.builtins.INT8, String)

/** Who asks, when, and what answers. */
export interface Context {
  readonly pool: pg.Pool
  readonly setup: Setup
  readonly documents: Documents
  readonly at: Date
  readonly caller: Caller
  readonly requestId: string
}

export const connect = (url: string, connections: number): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    idleTimeoutMillis: 0,
    options: "-c jit=off -c timezone=UTC -c statement_timeout=20s"
  })
  // An idle connection that ends is replaced; a busy one fails its own statement.
  return pool.on("error", () => {})
}

export const run = async <Row extends object>(
  on: pg.Pool,
  { name, text }: Statement<Row>,
  values: Array<unknown>
): Promise<ReadonlyArray<Row>> =>
  (await on.query<Row & pg.QueryResultRow>({ name, text, values })).rows

/** The first parameters of every statement that changes something. */
export const trailOf = (
  { at, caller, requestId }: Context,
  { external_account_number, import_supplier }: Key
) => [import_supplier, external_account_number, at, caller.organisation, caller.apiKey, requestId]

const isRepeated = (cause: unknown): boolean =>
  (cause as { readonly code?: unknown } | null)?.code === "23505"

const mostTries = 20

/**
 * Runs a statement again that failed since another had added the same in the meantime, which it
 * finds then. What it sends is made anew for each try.
 */
export const retried = async <A>(attempt: () => Promise<A>): Promise<A> => {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (cause) {
      if (tries === mostTries || !isRepeated(cause)) throw cause
    }
  }
}
