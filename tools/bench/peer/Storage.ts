/** PostgreSQL: prepared statements on a pool. */
import pg from "pg"
import type { Statement } from "./Statements.ts"

// Dates and decimals stay text, so that no precision is lost.
pg.types.setTypeParser(pg.types.builtins.DATE, String)
pg.types.setTypeParser(pg.types.builtins.INT8, String)

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

const isRepeated = (cause: unknown): boolean =>
  (cause as { readonly code?: unknown } | null)?.code === "23505"

const mostTries = 20

/**
 * Repeats a statement that failed because another one had concurrently added the same row, which it
 * then finds. `attempt` builds its parameters again for each try.
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
