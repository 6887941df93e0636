/**
 * The privileges of each role, looked up in the catalogue and tried. A new table is accessible to
 * no role until a migration grants it, and fails the first test here until the matrix has it.
 */
import { PgClient } from "@effect/sql-pg"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, Record, Redacted } from "effect"
import { SqlError } from "effect/sql"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import * as DatabaseUsers from "../src/schema/DatabaseUsers.ts"
import { migrate } from "../src/schema/migrate.ts"
import { createDatabase, databaseUrl, dropDatabase } from "../testing/databases.ts"
import { columns, functions, matrix } from "./grants.ts"

type Client = PgClient.PgClient

/** A client of the owner, and one of each worker with its own user. */
class Clients extends Context.Service<
  Clients,
  { readonly owner: Client; readonly workers: Readonly<Record<DatabaseUsers.Worker, Client>> }
>()("test/Clients") {}

const clientOf = (url: Redacted.Redacted) =>
  Effect.map(Layer.build(Layer.fresh(PgClient.layer({ url, maxConnections: 1 }))), (context) =>
    Context.get(context, PgClient.PgClient)
  )

/** Clients on a separately migrated database, because copies lack the grants on the database. */
const clients = Layer.effect(
  Clients,
  Effect.gen(function* () {
    const server = Redacted.make(inject("databaseUrl"))
    const name = `roles_${randomBytes(6).toString("hex")}`
    yield* Effect.acquireRelease(createDatabase(server, name), () =>
      Effect.orDie(dropDatabase(server, name))
    )
    const url = databaseUrl(server, name)
    yield* migrate(url)
    const databaseUsers = yield* DatabaseUsers.temporary(url)
    return {
      owner: yield* clientOf(url),
      workers: yield* Effect.all(Record.map(databaseUsers, clientOf))
    }
  }).pipe(Effect.orDie)
)

const workers = Object.keys(DatabaseUsers.roleOf) as ReadonlyArray<DatabaseUsers.Worker>

/** As PostgreSQL abbreviates them. */
const letters = {
  SELECT: "r",
  INSERT: "a",
  UPDATE: "w",
  DELETE: "d",
  TRUNCATE: "D",
  REFERENCES: "x",
  TRIGGER: "t",
  MAINTAIN: "m"
}

interface TableGrant {
  readonly relation: string
  readonly worker: DatabaseUsers.Worker
  readonly privilege: keyof typeof letters
  readonly whole: boolean
  /** The columns that the privilege holds for. */
  readonly columns: ReadonlyArray<string>
}

/** Every table, worker and privilege. */
const grants = Effect.gen(function* () {
  const { owner: sql } = yield* Clients
  return yield* sql<TableGrant>`
    select relname as relation, worker, privilege,
      has_table_privilege(role, relation.oid, privilege) as whole,
      case when privilege in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') then array(
        select attname::text from pg_attribute
        where attrelid = relation.oid and attnum > 0 and not attisdropped
          and has_column_privilege(role, relation.oid, attnum, privilege)
        order by attname) else '{}' end as columns
    from pg_class as relation, 
      unnest(${workers}::text[], ${Object.values(DatabaseUsers.roleOf)}::text[])
        with ordinality as workers(worker, role, at),
      unnest(${Object.keys(letters)}::text[]) with ordinality as privileges(privilege, place)
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
    order by relname collate "C", at, place`
})

const abbreviated = ({ columns, privilege, whole }: TableGrant): string => {
  if (whole) return letters[privilege]
  return columns.length > 0 ? `(${letters[privilege]})` : ""
}

const matrixOf = (all: ReadonlyArray<TableGrant>) =>
  Record.map(
    Object.groupBy(all, ({ relation }) => relation) as Readonly<Record<string, Array<TableGrant>>>,
    (ofTable) =>
      workers
        .map((worker) => [worker, ofTable.filter((grant) => grant.worker === worker)] as const)
        .map(([worker, ofWorker]) => [worker, ofWorker.map(abbreviated).join("")] as const)
        .flatMap(([worker, rights]) => (rights === "" ? [] : [`${worker} ${rights}`]))
        .join(", ")
  )

/** The SQLSTATE that refuses a statement, or "done"; the statement is always rolled back. */
const outcomeOf = (client: Client, statement: string) =>
  client.unsafe(statement).pipe(
    Effect.as("done"),
    Effect.flatMap(Effect.fail),
    client.withTransaction,
    Effect.catch((failure) =>
      Effect.succeed(
        SqlError.isSqlError(failure)
          ? String((failure.reason.cause as { readonly code?: unknown }).code)
          : failure
      )
    )
  )

const insufficientPrivilege = "42501"

/** Statements that only an owner or an administrator may run. */
const forbidden: ReadonlyArray<readonly [what: string, statement: string]> = [
  ["create a table", "create table mine (id bigint)"],
  ["create a temporary table", "create temporary table mine (id bigint)"],
  ["create a view", "create view mine as select 1 as one"],
  ["create a function", "create function mine() returns int language sql return 1"],
  ["create a schema", "create schema mine"],
  ["create a role", "create role mine"],
  ["alter a table", "alter table suppliers add column mine text"],
  ["drop a table", "drop table audit_log cascade"],
  ["drop an index", "drop index import_processes_pending"],
  ["drop the schema", "drop schema public cascade"],
  ["switch a trigger off", "alter table audit_log disable trigger all"],
  ["switch all triggers off", "set session_replication_role = replica"],
  ["replace a function", "create or replace function refuse_change() returns int return 1"],
  ["read the migrations", "select * from migrations"],
  ["empty a table", "truncate failed_token_attempts"],
  ["change an audit entry", "update audit_log set outcome = 'created'"],
  ["delete an audit entry", "delete from audit_log"],
  ["empty the audit log", "truncate audit_log"],
  ["delete the head of the audit log", "delete from audit_head"],
  ["read the passwords", "select rolpassword from pg_authid"],
  ["run a program", "copy suppliers to program 'true'"],
  ["read a file of the server", "select pg_read_file('postgresql.conf')"],
  ["reload the settings", "select pg_reload_conf()"]
]

const privateReads: ReadonlyArray<readonly [DatabaseUsers.Worker, string]> = [
  ["account-import", "select payload from accounts"],
  ["account-import", "select body from notes"],
  ["account-import", "select hash from refresh_tokens"],
  ["post-import", "select payload from import_processes"],
  ["post-import", "select payload from accounts"],
  ["query", "select payload from import_processes"],
  ["query", "update accounts set balance = 0"],
  ["query", "select results from batch_chunks"],
  ["query", "update import_attempts set outcome = outcome"],
  ["query", "select answer from idempotency_keys"],
  ["operator", "select answer from idempotency_keys"],
  ["batches", "select payload from import_processes"],
  ["batches", "select number from accounts"],
  ["batches", "select body from notes"],
  ["batch-worker", "update accounts set payload = '{}'"],
  ["batch-worker", "select hash from refresh_tokens"],
  ["auth", "select * from import_processes"],
  ["auth", "select * from suppliers"],
  ["operator", "select payload from import_processes"],
  ["operator", "select hash from refresh_tokens"]
]

layer(clients, { excludeTestServices: true, timeout: "60 seconds" })("the database roles", (it) => {
  it.effect("have exactly the privileges of the matrix", () =>
    Effect.gen(function* () {
      expect(matrixOf(yield* grants)).toStrictEqual(matrix)
    })
  )

  it.effect("have privileges only on the columns of their statements", () =>
    Effect.gen(function* () {
      const partial = (yield* grants)
        .filter(({ columns, whole }) => !whole && columns.length > 0)
        .map(({ columns, privilege, relation, worker }) => [
          `${relation} ${worker} ${letters[privilege]}`,
          columns.join(" ")
        ])
      expect(Object.fromEntries(partial)).toStrictEqual(columns)
    })
  )

  it.effect("own nothing, have no special attributes and are members of no other role", () =>
    Effect.gen(function* () {
      const { owner: sql, workers: clients } = yield* Clients
      const roles = Object.values(DatabaseUsers.roleOf)
      expect(
        yield* sql`
          select rolname from pg_roles where rolname = any(${roles}::text[])
            and (rolcanlogin or rolsuper or rolcreaterole or rolcreatedb or rolreplication
              or rolbypassrls or oid in (select member from pg_auth_members))`
      ).toStrictEqual([])
      for (const worker of workers) {
        const [is] = yield* clients[worker]`
          select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls
              as powerful,
            array(select roleid::regrole::text from pg_auth_members where member = pg_roles.oid)
              as roles,
            exists (select from pg_shdepend where refobjid = pg_roles.oid and deptype = 'o')
              as owns
          from pg_roles where rolname = current_user`
        expect(is, worker).toStrictEqual({
          powerful: false,
          roles: [DatabaseUsers.roleOf[worker]],
          owns: false
        })
      }
    })
  )

  it.effect(
    "can use the database and its schema, few functions, and the sequence of accounts",
    () =>
      Effect.gen(function* () {
        const { owner: sql, workers: clients } = yield* Clients
        expect(
          yield* sql`
          select worker.role, relname as name from pg_class,
            unnest(${Object.values(DatabaseUsers.roleOf)}::text[]) as worker(role)
          where relkind = 'S' and relnamespace = 'public'::regnamespace
            and has_sequence_privilege(worker.role, pg_class.oid, 'USAGE, SELECT, UPDATE')
          union all
          select worker.role, proname from pg_proc,
            unnest(${Object.values(DatabaseUsers.roleOf)}::text[]) as worker(role)
          where pronamespace = 'public'::regnamespace
            and has_function_privilege(worker.role, pg_proc.oid, 'EXECUTE')
          order by role, name`
        ).toStrictEqual(functions)
        for (const worker of workers) {
          const [may] = yield* clients[worker]`
          select has_schema_privilege('public', 'USAGE') as use,
            has_schema_privilege('public', 'CREATE') as create,
            has_database_privilege(current_database(), 'CONNECT') as connect,
            has_database_privilege(current_database(), 'CREATE, TEMPORARY') as add`
          const expected = { use: true, create: false, connect: true, add: false }
          expect(may, worker).toStrictEqual(expected)
        }
      })
  )

  it.effect("leave no privileges to public", () =>
    Effect.gen(function* () {
      const { owner: sql } = yield* Clients
      expect(
        yield* sql`
          select 'database' as of, privilege_type from pg_database, aclexplode(datacl)
          where datname = current_database() and grantee = 0
          union all
          select 'schema', privilege_type from pg_namespace, aclexplode(nspacl)
          where nspname = 'public' and grantee = 0
          union all
          select relname, privilege_type from pg_class, aclexplode(relacl)
          where relnamespace = 'public'::regnamespace and grantee = 0
          union all
          select proname, privilege_type
          from pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))
          where pronamespace = 'public'::regnamespace and grantee = 0`
      ).toStrictEqual([])
    })
  )

  it.effect("get no privileges on objects that are created later", () =>
    Effect.gen(function* () {
      const { owner, workers: clients } = yield* Clients
      yield* Effect.acquireRelease(
        Effect.andThen(
          owner`create table later (id bigint)`,
          owner`create function later_on() returns int language sql return 1`
        ),
        () => Effect.orDie(Effect.andThen(owner`drop table later`, owner`drop function later_on`))
      )
      expect(matrixOf(yield* grants)).toHaveProperty("later", "")
      for (const worker of workers) {
        const tried = [
          yield* outcomeOf(clients[worker], "select * from later"),
          yield* outcomeOf(clients[worker], "select later_on()")
        ]
        expect(tried, worker).toStrictEqual([insufficientPrivilege, insufficientPrivilege])
      }
    }).pipe(Effect.scoped)
  )

  it.effect.each(forbidden)("cannot %s", ([what, statement]) =>
    Effect.gen(function* () {
      const { workers: clients } = yield* Clients
      const outcomes = yield* Effect.forEach(workers, (worker) =>
        outcomeOf(clients[worker], statement)
      )
      expect(outcomes, what).toStrictEqual(workers.map(() => insufficientPrivilege))
    })
  )

  it.effect("cannot take another role, including the owner's", () =>
    Effect.gen(function* () {
      const { owner, workers: clients } = yield* Clients
      const [is] = yield* owner<{ user: string }>`select quote_ident(current_user) as user`
      for (const worker of workers) {
        for (const role of [...Object.values(DatabaseUsers.roleOf), is?.user]) {
          const expected = role === DatabaseUsers.roleOf[worker] ? "done" : insufficientPrivilege
          expect(yield* outcomeOf(clients[worker], `set role ${role}`), worker).toBe(expected)
        }
      }
    })
  )

  it.effect.each(privateReads)("deny %s what it does not need: %s", ([worker, statement]) =>
    Effect.gen(function* () {
      const { workers: clients } = yield* Clients
      expect(yield* outcomeOf(clients[worker], statement)).toBe(insufficientPrivilege)
    })
  )
})
