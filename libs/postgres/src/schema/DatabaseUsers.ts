/**
 * The database users of the services and the operator. The migrations grant privileges to roles
 * that cannot log in. A user is a member of exactly one role and has its own password. Statements
 * contain the stored form of a password, so that no statement log contains a password.
 */
import { PgClient } from "@effect/sql-pg"
import { Data, Duration, Effect, Record, Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"
import { connectionTo } from "../connection/ConnectionUrl.ts"

/** The role of each worker. */
export const roleOf = {
  "account-import": "data_import_account_import",
  "post-import": "data_import_post_import",
  query: "data_import_query",
  batches: "data_import_batches",
  "batch-worker": "data_import_batch_worker",
  events: "data_import_events",
  board: "data_import_board",
  auth: "data_import_auth",
  operator: "data_import_operator"
} as const

/** A service, or the operator. */
export type Worker = keyof typeof roleOf

/** The connection URL of each worker, `postgres://user:password@…`. */
export type DatabaseUsers = Readonly<Record<Worker, Redacted.Redacted>>

/** A user that cannot be created or is not allowed. The message states the reason. */
export class UnusableDatabaseUser extends Data.TaggedError("UnusableDatabaseUser")<{
  readonly worker: Worker
  readonly why: string
}> {
  override get message(): string {
    return `The database user of ${this.worker} ${this.why}`
  }
}

interface DatabaseUser {
  readonly worker: Worker
  readonly user: string
  readonly password: string
}

/** Anything else would have to be normalised in the same way by every client. */
const printableAscii = /^[ -~]+$/

const databaseUserOf = (
  worker: Worker,
  url: Redacted.Redacted
): Effect.Effect<DatabaseUser, UnusableDatabaseUser> => {
  const unfit = (why: string) => Effect.fail(new UnusableDatabaseUser({ worker, why }))
  const parsed = URL.parse(Redacted.value(url))
  if (parsed === null) return unfit("is no URL")
  const user = decodeURIComponent(parsed.username)
  const password = decodeURIComponent(parsed.password)
  if (user === "" || Buffer.byteLength(user) > 63) return unfit("has no user of 1 to 63 bytes")
  if (!printableAscii.test(password)) return unfit("has no password of printable ASCII characters")
  return Effect.succeed({ worker, user, password })
}

const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest()

/** The verifier of a password that the server stores. Source: RFC 5803. */
const verifierOf = (password: string): string => {
  const iterations = 4096
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256")
  const stored = createHash("sha256").update(hmac(salted, "Client Key")).digest("base64")
  const server = hmac(salted, "Server Key").toString("base64")
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${server}`
}

/** `create role` takes no parameters; the `do` block reads these settings as `database_user`. */
const eachDatabaseUser = `
  for database_user in
    select * from json_to_recordset(current_setting('data_import.database_users')::json)
      as database_user(name text, role text, verifier text)
  loop`

const making = `do $$ declare database_user record; begin ${eachDatabaseUser}
    execute format(case when exists (select from pg_roles where rolname = database_user.name)
      then 'alter role %I login password %L' else 'create role %I login password %L' end,
      database_user.name, database_user.verifier);
    execute format('grant %I to %I', database_user.role, database_user.name);
    execute format('grant connect on database %I to %I', current_database(), database_user.name);
  end loop;
end $$`

const removing = `do $$ declare database_user record; begin ${eachDatabaseUser}
    continue when not exists (select from pg_roles where rolname = database_user.name);
    execute format('revoke connect on database %I from %I', current_database(), database_user.name);
    execute format('drop role %I', database_user.name);
  end loop;
end $$`

const refusePowerful = Effect.fnUntraced(function* (databaseUsers: ReadonlyArray<DatabaseUser>) {
  const sql = yield* SqlClient.SqlClient
  const powerful = yield* sql<{ name: string }>`
    select rolname as name from pg_roles 
    where rolname = any(${databaseUsers.map(({ user }) => user)})
      and (rolsuper or rolcreaterole or rolcreatedb or rolname = current_user)`
  const found = databaseUsers.find(({ user }) => powerful.some(({ name }) => name === user))
  if (found === undefined) return
  const why = "has more rights than its role"
  return yield* new UnusableDatabaseUser({ worker: found.worker, why })
})

/** Under an advisory lock, because concurrent changes of a role fail. */
const runBlock = Effect.fnUntraced(function* (
  block: string,
  databaseUsers: ReadonlyArray<DatabaseUser>
) {
  const sql = yield* SqlClient.SqlClient
  const given = databaseUsers.map(({ password, user, worker }) => ({
    name: user,
    role: roleOf[worker],
    verifier: verifierOf(password)
  }))
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`
        select pg_advisory_xact_lock(hashtextextended('logins', 0)),
          set_config('data_import.database_users', ${JSON.stringify(given)}, true)`
      yield* refusePowerful(databaseUsers)
      yield* sql.unsafe(block)
    })
  )
})

const layerAt = (owner: Redacted.Redacted) =>
  PgClient.layer({
    ...connectionTo(owner),
    applicationName: "data-import-database-users",
    maxConnections: 1,
    connectTimeout: Duration.seconds(5)
  })

const databaseUsersOf = (urls: Partial<DatabaseUsers>) =>
  Effect.forEach(
    Object.entries(urls) as ReadonlyArray<[Worker, Redacted.Redacted]>,
    ([worker, url]) => databaseUserOf(worker, url)
  )

/**
 * Creates the missing users and sets the passwords of their URLs, in the migrated database at
 * `owner`, all or none. The user at `owner` needs the privilege to create roles.
 */
export const ensure = Effect.fnUntraced(function* (
  owner: Redacted.Redacted,
  urls: Partial<DatabaseUsers>
): Effect.fn.Return<void, UnusableDatabaseUser | SqlError.SqlError> {
  const databaseUsers = yield* databaseUsersOf(urls)
  for (const [index, { user, worker }] of databaseUsers.entries()) {
    if (databaseUsers.findIndex((databaseUser) => databaseUser.user === user) < index) {
      return yield* new UnusableDatabaseUser({
        worker,
        why: `is also used by another service: ${user}`
      })
    }
  }
  if (databaseUsers.length > 0)
    yield* Effect.provide(runBlock(making, databaseUsers), layerAt(owner))
})

/** The URL of the same user with the role of this worker. The user must be a member of the role. */
export const inRoleOf = (worker: Worker, owner: Redacted.Redacted): Redacted.Redacted => {
  const url = new URL(Redacted.value(owner))
  url.searchParams.set("options", `-c role=${roleOf[worker]}`)
  return Redacted.make(url.href)
}

const remove = Effect.fnUntraced(function* (owner: Redacted.Redacted, urls: DatabaseUsers) {
  yield* Effect.provide(runBlock(removing, yield* databaseUsersOf(urls)), layerAt(owner))
})

const databaseName = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ name: string }>`select current_database() as name`
  return row?.name ?? ""
})

/**
 * Users with random passwords that exist until the scope ends, one for each worker and database.
 * Two concurrent runs on one database are not supported.
 */
export const temporary = Effect.fnUntraced(function* (owner: Redacted.Redacted) {
  const database = yield* Effect.provide(databaseName, layerAt(owner))
  const urls: DatabaseUsers = Record.map(roleOf, (role) => {
    const url = new URL(Redacted.value(owner))
    url.username = encodeURIComponent(`${role}_${database}`)
    url.password = randomBytes(24).toString("hex")
    return Redacted.make(url.href)
  })
  return yield* Effect.acquireRelease(Effect.as(ensure(owner, urls), urls), () =>
    Effect.catch(remove(owner, urls), (error) =>
      Effect.logWarning(`Users were left on ${database}: ${error.message}`)
    )
  )
})
