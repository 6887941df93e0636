/**
 * What the peer asks of PostgreSQL: prepared statements on a pool, one statement a step, and a
 * transaction only where something has to be looked at before it is changed.
 */
import pg from "pg"
import type { Caller } from "./Auth.ts"
import type { Key, Transaction } from "./Requests.ts"
import { complete } from "./CompleteStatement.ts"
import * as statements from "./Statements.ts"

// Dates and decimals stay text, so that no precision is lost.
pg.types.setTypeParser(pg.types.builtins.DATE, String)
pg.types.setTypeParser(pg.types.builtins.INT8, String)

export interface Supplier {
  readonly organisation: string
  readonly status: "Ongoing" | "Paused" | "Complete"
  readonly timeZone: string
}

export interface Known {
  readonly supplier: Supplier | null
  readonly codeLists: Readonly<Record<string, ReadonlyArray<string>>>
  readonly teamExists: boolean
}

/** The columns of an import that say where it stands. */
export interface Import {
  readonly skipped: boolean
  readonly lease_attempt: string | null
  readonly lease_expires_at: Date | null
  readonly account_number: string | null
}

export interface Write {
  readonly at: Date
  readonly caller: Caller
  readonly requestId: string
}

export interface Account {
  readonly id: string
  readonly last_closing_date: string | null
}

/** A transaction to add, and the date it was sent with where that was moved. */
export type Added = Transaction & { readonly moved_from_date?: string }

type Query = Pick<pg.Pool, "query">

const run = async <Row extends pg.QueryResultRow>(
  on: Query,
  { name, text }: statements.Statement,
  values: ReadonlyArray<unknown>
): Promise<ReadonlyArray<Row>> =>
  (await on.query<Row>({ name, text, values: values as Array<unknown> })).rows

const writeOf = ({ at, caller, requestId }: Write) => [
  at,
  caller.organisation,
  caller.apiKey,
  requestId
]

const pairOf = ({ external_account_number, import_supplier }: Key) => [
  import_supplier,
  external_account_number
]

export class Storage {
  readonly #pool: pg.Pool

  constructor(url: string, connections: number) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max: connections,
      statement_timeout: 20_000,
      options: "-c jit=off -c timezone=UTC"
    })
    // An idle connection that ends is replaced; a busy one fails its own statement.
    this.#pool.on("error", () => {})
  }

  async isActive(id: string): Promise<boolean> {
    return (await run(this.#pool, statements.activeKey, [id])).length > 0
  }

  /** Everything that the rules may know beyond the payload. */
  async known(supplier: string | null, team: string | null): Promise<Known> {
    const [row] = await run<Known>(this.#pool, statements.known, [supplier, team])
    return row as Known
  }

  /** How often it was staged now; null where its state forbids it. */
  async stage(key: Key, payload: string, write: Write): Promise<number | null> {
    const values = [...pairOf(key), payload, ...writeOf(write)]
    const [row] = await run<{ stagings: number }>(this.#pool, statements.stage, values)
    return row?.stagings ?? null
  }

  async find(key: Key): Promise<Import | undefined> {
    return (await run<Import>(this.#pool, statements.find, pairOf(key)))[0]
  }

  /** The staged payload, once the attempt holds the import; null where its state forbids it. */
  async claim(
    key: Key,
    attempt: string,
    dryRun: boolean,
    at: Date,
    until: Date
  ): Promise<string | null> {
    const values = [...pairOf(key), attempt, dryRun, at, until]
    const [row] = await run<{ payload: string }>(this.#pool, statements.claim, values)
    return row?.payload ?? null
  }

  async renew(key: Key, attempt: string, until: Date): Promise<void> {
    await run(this.#pool, statements.renew, [...pairOf(key), attempt, until])
  }

  /** Whether the attempt still held the import; `keep` says whether the account is to stay. */
  async complete(
    key: Key,
    attempt: string,
    account: { readonly number: string; readonly team: string; readonly payload: string },
    balance: string,
    write: Write,
    keep: boolean
  ): Promise<boolean> {
    const { number, payload, team } = account
    const values = [...pairOf(key), attempt, number, team, payload, balance, ...writeOf(write)]
    const store = async (on: Query) => (await run(on, complete, values)).length > 0
    return keep ? store(this.#pool) : this.#transaction(store, "rollback")
  }

  async release(
    key: Key,
    attempt: string,
    outcome: string,
    event: string,
    errors: ReadonlyArray<{ readonly code: string; readonly attr: string }>,
    write: Write
  ): Promise<void> {
    const codes = [...new Set([outcome, ...errors.map(({ code }) => code)])]
    const kept = JSON.stringify(errors.map(({ attr, code }) => ({ code, attr })))
    const values = [...pairOf(key), attempt, outcome, event, codes, kept, ...writeOf(write)]
    await run(this.#pool, statements.release, values)
  }

  async refuse(
    action: string,
    outcome: string,
    key: { readonly [Field in keyof Key]: string | null },
    write: Write
  ): Promise<void> {
    const { external_account_number, import_supplier } = key
    const values = [...writeOf(write), action, outcome, import_supplier, external_account_number]
    await run(this.#pool, statements.audit, values)
  }

  /** Decides under the account's lock what to add, and adds it; null where there is no account. */
  async addTransactions<Answer>(
    key: Key,
    ids: ReadonlyArray<string>,
    write: Write,
    decide: (
      account: Account,
      present: ReadonlyMap<string, Transaction>
    ) => {
      readonly answer: Answer
      readonly added: ReadonlyArray<Added>
      readonly raise: string
      readonly note: string | null
    }
  ): Promise<Answer | null> {
    return this.#transaction(async (on) => {
      const [account] = await run<Account>(on, statements.lockAccount, pairOf(key))
      if (account === undefined) return null
      const rows = await run<{ row: Transaction }>(on, statements.present, [account.id, ids])
      const present = new Map(rows.map(({ row }) => [row.transaction_id, row]))
      const { added, answer, note, raise } = decide(account, present)
      const named = pairOf(key)
      if (added.length === 0) {
        const values = [...writeOf(write), "create_transactions", "unchanged", ...named]
        await run(on, statements.audit, values)
      } else {
        const values = [account.id, JSON.stringify(added), raise, note, ...named, ...writeOf(write)]
        await run(on, statements.add, values)
      }
      return answer
    }, "commit")
  }

  async page(
    kind: "all" | "pending" | "imported",
    supplier: string,
    after: string,
    size: number
  ): Promise<ReadonlyArray<{ readonly external_account_number: string; readonly line: string }>> {
    return run(this.#pool, statements.pages[kind], [supplier, after, size])
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #transaction<A>(body: (on: Query) => Promise<A>, end: "commit" | "rollback"): Promise<A> {
    const client = await this.#pool.connect()
    try {
      await client.query("begin")
      const result = await body(client)
      await client.query(end)
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
}
