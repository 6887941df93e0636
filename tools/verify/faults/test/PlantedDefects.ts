/** Stored accounts that are altered directly in the database, each in another way. */
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "@data-import/postgres/connection/Database"
import { Findings } from "../Findings.ts"
import * as Requests from "../Requests.ts"
import { startWorkload } from "../Scenario.ts"
import * as Session from "../Session.ts"
import * as System from "@data-import/testbed/System"
import { isKeyed } from "../Traffic.ts"
import { verify } from "../Verification.ts"

type Sql = Database["Service"]["sql"]
type Statement = Effect.Effect<unknown, SqlError.SqlError>

export interface Defect {
  readonly what: string
  /** `id` is the id of the account. */
  readonly plant: (sql: Sql, id: bigint) => Statement
  readonly found: ReadonlyArray<string>
  /** The defect concerns a write with an idempotency key. */
  readonly isKeyed?: true
}

const complete = "data_import.import_process.complete-v1"

/** An event of the import; the trigger that names its owner is off. */
const announced = (sql: Sql, id: bigint, name: string) => sql`
  insert into outbox (at, name, import_id, organisation)
  select now(), ${name}, id, organisation
  from import_processes join suppliers on code = supplier where account_id = ${id}`

/** Stores these transactions of the account once more, like a request without a check. */
const insertedTwice = (sql: Sql, id: bigint, ids: string) => sql`
  insert into transactions (account_id, sequence, origin, transaction_id, occurrence,
    transaction_date, amount, type, recorded_at)
  select account_id, 1000 + sequence, origin, transaction_id, 1 + occurrence,
    transaction_date, amount, type, recorded_at
  from transactions where account_id = ${id} and transaction_id like ${ids}`

export const defects: ReadonlyArray<Defect> = [
  {
    what: "the added notes are gone",
    plant: (sql, id) => sql`delete from notes where account_id = ${id} and body like 'The %'`,
    found: ["doubled", "lost"]
  },
  {
    what: "one of two added notes is gone",
    plant: (sql, id) => sql`delete from notes where account_id = ${id} and body like 'The first %'`,
    found: ["halfMade"]
  },
  {
    what: "an added note is there twice",
    plant: (sql, id) => sql`
      insert into notes select account_id, 100, body, created_at, is_pinned, unpin_at
      from notes where account_id = ${id} and body like 'The first %'`,
    found: ["doubled"]
  },
  {
    what: "the added transactions are gone, and the balance knows",
    plant: (sql, id) => sql`
      with gone as (delete from transactions
        where account_id = ${id} and origin = 'post_import' returning effect_on_balance)
      update accounts set balance = balance - (select sum(effect_on_balance) from gone)
      where id = ${id}`,
    found: ["doubled", "halfMade", "lost"]
  },
  {
    what: "a transaction is gone, and the balance does not know",
    plant: (sql, id) => sql`
      delete from transactions where account_id = ${id} and sequence = (select max(sequence)
        from transactions where account_id = ${id} and origin = 'post_import')`,
    found: ["halfMade"]
  },
  {
    what: "a transaction under a key is there twice, and the balance knows",
    isKeyed: true,
    plant: (sql, id) => sql`
      with twice as (
        ${insertedTwice(sql, id, "%-U-1")} returning effect_on_balance
      )
      update accounts set balance = balance + (select effect_on_balance from twice)
      where id = ${id}`,
    found: ["doubled"]
  },
  {
    what: "what was sent under a key was stored by every attempt",
    isKeyed: true,
    plant: (sql, id) => sql`
      with twice as (
        ${insertedTwice(sql, id, "%-U-%")} returning effect_on_balance
      ),
      event as (
        ${announced(sql, id, "data_import.import_process.post_import.completed-v1")}
      )
      update accounts set balance = balance + (select sum(effect_on_balance) from twice)
      where id = ${id}`,
    found: ["doubled"]
  },
  {
    what: "the transactions under a key are gone, and the balance knows",
    isKeyed: true,
    plant: (sql, id) => sql`
      with gone as (delete from transactions
        where account_id = ${id} and transaction_id like '%-U-%' returning effect_on_balance)
      update accounts set balance = balance - (select sum(effect_on_balance) from gone)
      where id = ${id}`,
    found: ["doubled", "halfMade", "lost"]
  },
  {
    what: "the balance is a penny off",
    plant: (sql, id) => sql`update accounts set balance = balance + 0.01 where id = ${id}`,
    found: ["halfMade"]
  },
  {
    what: "an added statement is gone",
    plant: (sql, id) => sql`
      delete from statements where account_id = ${id} and sequence = (select max(sequence)
        from statements where account_id = ${id} and origin = 'historical_statements')`,
    found: ["halfMade"]
  },
  {
    what: "the payment instruction is gone",
    plant: (sql, id) => sql`delete from payment_instructions where account_id = ${id}`,
    found: ["doubled", "lost"]
  },
  {
    what: "a customer is gone",
    plant: (sql, id) => sql`
      update accounts set payload = (payload::jsonb #- '{customers,1}')::json where id = ${id}`,
    found: ["halfMade"]
  },
  {
    what: "a line item is gone",
    plant: (sql, id) => sql`delete from transaction_line_items where account_id = ${id}`,
    found: ["halfMade"]
  },
  {
    what: "the account is of an older staging",
    plant: (sql, id) => sql`
      update accounts set payload = jsonb_set(payload::jsonb,
        '{billing_customer_reference}', '"as staged before"')::json where id = ${id}`,
    found: ["halfMade"]
  },
  {
    what: "the staged payload is an older one",
    plant: (sql, id) => sql`
      update import_processes set payload = jsonb_set(payload::jsonb,
        '{billing_customer_reference}', '"as staged before"')::json where account_id = ${id}`,
    found: ["halfMade", "lost"]
  },
  {
    what: "the import has lost its account",
    plant: (sql, id) => sql`
      update import_processes
      set account_id = null, account_number = null, account_created_at = null
      where account_id = ${id}`,
    found: ["doubled", "halfMade", "lost"]
  },
  {
    what: "the import has another account",
    plant: (sql, id) => sql`
      update import_processes set account_number = 'A-00000000' where account_id = ${id}`,
    found: ["doubled", "halfMade", "lost"]
  },
  {
    what: "the import is gone",
    plant: (sql, id) => sql`delete from import_processes where account_id = ${id}`,
    found: ["lost"]
  },
  {
    what: "the import was announced twice",
    plant: (sql, id) => announced(sql, id, complete),
    found: ["doubled"]
  },
  {
    what: "the import was never announced",
    plant: (sql, id) => sql`
      delete from outbox where name = ${complete}
        and import_id = (select import_id from accounts where id = ${id})`,
    found: ["halfMade"]
  },
  {
    what: "an attempt was never ended",
    plant: (sql, id) => sql`
      insert into import_attempts (import_id, id, dry_run, started_at)
      select import_id, 'open', false, now() from accounts where id = ${id}`,
    found: ["halfMade"]
  },
  {
    what: "its processing is not in the audit log",
    plant: (sql, id) => sql`
      delete from audit_log where action = 'process' and external_account_number =
        (select external_account_number from import_processes where account_id = ${id})`,
    found: ["halfMade"]
  }
]

/** What was found before and after the defects were planted. */
export class Verified extends Context.Service<
  Verified,
  {
    readonly before: Findings
    readonly of: (defect: Defect) => ReadonlyArray<string>
    /** What was found besides the defects. */
    readonly others: ReadonlyArray<string>
  }
>()("@data-import/verify/faults/test/Verified") {}

/** Plants a defect with constraints and triggers disabled, because a correct system rejects it. */
const planted = Effect.fnUntraced(function* (supplier: string, defect: Defect, number: string) {
  const { run, sql } = (yield* System.System).database
  const [{ id } = { id: 0n }] = yield* run(
    sql<{ id: bigint }>`
      select account_id as id from import_processes
      where supplier = ${supplier} and external_account_number = ${number}`
  )
  const plant = Effect.andThen(
    sql`set local session_replication_role = replica`,
    defect.plant(sql, id)
  )
  yield* run(sql.withTransaction(plant))
})

/** The number of an import that no client had sent. */
export const unsent = "N-1"

const verified = Effect.gen(function* () {
  const accounts = defects.length + 1
  const before = new Findings()
  const { tenant, traffic } = yield* startWorkload({
    accounts,
    writers: 4,
    keyed: true,
    findings: before
  })
  yield* traffic.done
  const { entries } = traffic.writes
  yield* verify(tenant, entries, before)
  const free = entries.map(({ number }) => number)
  const numbers = new Map(
    defects
      .toSorted((one, other) => Number(other.isKeyed ?? false) - Number(one.isKeyed ?? false))
      .map((defect) => {
        const at = free.findIndex((number) => defect.isKeyed !== true || isKeyed(number))
        return [defect, free.splice(at, 1)[0] ?? "none"] as const
      })
  )
  yield* Effect.forEach(numbers, ([defect, number]) => planted(tenant.supplier, defect, number))
  const session = yield* Session.open(tenant, 1)
  yield* session.settle(Requests.stage(tenant, unsent, "never sent"))
  const after = new Findings()
  yield* verify(tenant, entries, after)
  const described = after.described(Infinity)
  return Verified.of({
    before,
    of: (defect) => described.filter((what) => what.includes(numbers.get(defect) ?? "")),
    others: described.filter(
      (what) => ![...numbers.values()].some((number) => what.includes(number))
    )
  })
})

export const layer = Layer.effect(Verified, verified).pipe(Layer.orDie)
