/** PostgreSQL: prepared statements on a pool, and a transaction where a look precedes a change. */
import pg from "pg"
import type { Caller } from "./Auth.ts"
import type { Key } from "./Requests.ts"
import type { Statement } from "./Statements.ts"

// Dates and decimals stay text, so that no precision is lost.
pg.types.setTypeParser(pg.types.builtins.DATE, String)
pg.types.setTypeParser(pg.types.builtins.INT8, String)

type Query = Pick<pg.Pool, "query">

/** Who asks, when, and the database that answers. */
export interface Context {
  readonly pool: pg.Pool
  readonly at: Date
  readonly caller: Caller
  readonly requestId: string
}

export const connect = (url: string, connections: number): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    statement_timeout: 20_000,
    options: "-c jit=off -c timezone=UTC"
  })
  // An idle connection that ends is replaced; a busy one fails its own statement.
  return pool.on("error", () => {})
}

export const run = async <Row extends object>(
  on: Query,
  { name, text }: Statement<Row>,
  values: ReadonlyArray<unknown>
): Promise<ReadonlyArray<Row>> =>
  (await on.query<Row & pg.QueryResultRow>({ name, text, values: [...values] })).rows

/** The parameters of a statement that writes to the audit log. */
export const auditOf = ({ at, caller, requestId }: Context) => [
  at,
  caller.organisation,
  caller.apiKey,
  requestId
]

export const pairOf = ({ external_account_number, import_supplier }: Key) => [
  import_supplier,
  external_account_number
]

export const transaction = async <A>(
  pool: pg.Pool,
  body: (on: Query) => Promise<A>
): Promise<A> => {
  const client = await pool.connect()
  try {
    await client.query("begin")
    const result = await body(client)
    await client.query("commit")
    client.release()
    return result
  } catch (cause) {
    // A connection in an unknown state must not return to the pool.
    await client.query("rollback").then(
      () => client.release(),
      () => client.release(true)
    )
    throw cause
  }
}
