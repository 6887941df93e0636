/**
 * The users that the services and the operator log in as. The migrations grant to roles that cannot
 * log in; a user is a member of one of them and of nothing else, and has a password of its own. What
 * the server is told is what it stores, so that no log of its statements has a password in it.
 */
import { PgClient } from "@effect/sql-pg"
import { Data, Duration, Effect, Record, Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"

/** The role that each of them works in. */
export const roleOf = {
  "account-import": "data_import_account_import",
  "post-import": "data_import_post_import",
  query: "data_import_query",
  auth: "data_import_auth",
  operator: "data_import_operator"
} as const

/** Who works on the database beside its owner. */
export type Worker = keyof typeof roleOf

/** The URL that each is to connect with, `postgres://user:password@…`. */
export type Logins = Readonly<Record<Worker, Redacted.Redacted>>

/** A user that cannot be made, or that must not be had; the message says why. */
export class UnfitLogin extends Data.TaggedError("UnfitLogin")<{
  readonly worker: Worker
  readonly why: string
}> {
  override get message(): string {
    return `The login of ${this.worker} ${this.why}`
  }
}

interface Login {
  readonly worker: Worker
  readonly user: string
  readonly password: string
}

/** Anything else would have to be normalised in the same way by every client. */
const printableAscii = /^[ -~]+$/

const loginOf = (worker: Worker, url: Redacted.Redacted): Effect.Effect<Login, UnfitLogin> => {
  const unfit = (why: string) => Effect.fail(new UnfitLogin({ worker, why }))
  const parsed = URL.parse(Redacted.value(url))
  if (parsed === null) return unfit("is no URL")
  const user = decodeURIComponent(parsed.username)
  const password = decodeURIComponent(parsed.password)
  if (user === "" || Buffer.byteLength(user) > 63) return unfit("has no user of 1 to 63 bytes")
  if (!printableAscii.test(password)) return unfit("has no password of printable ASCII characters")
  return Effect.succeed({ worker, user, password })
}

const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest()

/** What the server keeps of a password, and no password can be had from. Source: RFC 5803. */
const verifierOf = (password: string): string => {
  const iterations = 4096
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256")
  const stored = createHash("sha256").update(hmac(salted, "Client Key")).digest("base64")
  const server = hmac(salted, "Server Key").toString("base64")
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${server}`
}

const presentUser = Effect.fnUntraced(function* (user: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ powerful: boolean }>`
    select rolsuper or rolcreaterole or rolcreatedb or rolname = current_user as powerful
    from pg_roles where rolname = ${user}`
  return row === undefined ? "none" : row.powerful ? "powerful" : "plain"
})

/** The server itself quotes the names and the text. */
const quoted = Effect.fnUntraced(function* (template: string, ...values: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ statement: string }>`
    select format(${template}, variadic ${values}::text[]) as statement`
  return row?.statement ?? ""
})

const execute = Effect.fnUntraced(function* (template: string, ...values: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(yield* quoted(template, ...values))
})

const ensureOne = Effect.fnUntraced(function* (
  { password, user, worker }: Login,
  database: string
) {
  const present = yield* presentUser(user)
  if (present === "powerful") {
    return yield* new UnfitLogin({ worker, why: "is of a user that may do more than it is to" })
  }
  const verb = present === "none" ? "create" : "alter"
  yield* execute(`${verb} role %I login password %L`, user, verifierOf(password))
  yield* execute("grant %I to %I", roleOf[worker], user)
  yield* execute("grant connect on database %I to %I", database, user)
})

const databaseName = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ name: string }>`select current_database() as name`
  return row?.name ?? ""
})

/** As the owner, and alone of all that do this in the same database. */
const asOwner = <A, E>(
  owner: Redacted.Redacted,
  work: (database: string) => Effect.Effect<A, E, SqlClient.SqlClient>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`select pg_advisory_xact_lock(hashtextextended('logins', 0))`
        return yield* work(yield* databaseName)
      })
    )
  }).pipe(
    Effect.provide(
      PgClient.layer({
        url: owner,
        applicationName: "data-import-logins",
        maxConnections: 1,
        connectTimeout: Duration.seconds(5)
      })
    )
  )

/**
 * Makes each user that is not there yet and gives each the password of its URL, in the migrated
 * database at `owner`; all of them or none. The user at `owner` must have the right to make roles.
 */
export const ensure = Effect.fnUntraced(function* (
  owner: Redacted.Redacted,
  urls: Partial<Logins>
): Effect.fn.Return<void, UnfitLogin | SqlError.SqlError> {
  const given = Object.entries(urls) as ReadonlyArray<[Worker, Redacted.Redacted]>
  const logins = yield* Effect.forEach(given, ([worker, url]) => loginOf(worker, url))
  for (const [index, { user, worker }] of logins.entries()) {
    if (logins.findIndex((login) => login.user === user) < index) {
      return yield* new UnfitLogin({ worker, why: `is that of another one: ${user}` })
    }
  }
  if (logins.length === 0) return
  yield* asOwner(owner, (database) =>
    Effect.forEach(logins, (login) => ensureOne(login, database), { discard: true })
  )
})

/** The same user, who must be able to be anybody, but in the role of this worker. */
export const inRoleOf = (worker: Worker, owner: Redacted.Redacted): Redacted.Redacted => {
  const url = new URL(Redacted.value(owner))
  url.searchParams.set("options", `-c role=${roleOf[worker]}`)
  return Redacted.make(url.href)
}

/** Takes the users of these URLs away from the database at `owner`, and from its server. */
export const remove = Effect.fnUntraced(function* (
  owner: Redacted.Redacted,
  urls: Logins
): Effect.fn.Return<void, UnfitLogin | SqlError.SqlError> {
  const logins = yield* Effect.forEach(Record.toEntries(urls), ([worker, url]) =>
    loginOf(worker, url)
  )
  yield* asOwner(owner, (database) =>
    Effect.forEach(
      logins,
      Effect.fnUntraced(function* ({ user }) {
        if ((yield* presentUser(user)) === "none") return
        yield* execute("revoke connect on database %I from %I", database, user)
        yield* execute("drop role %I", user)
      }),
      { discard: true }
    )
  )
})

/**
 * Users for as long as the scope, with passwords that nobody else gets to know: one for each worker
 * and database, and so not for two runs on one database at once.
 */
export const temporary = Effect.fnUntraced(function* (owner: Redacted.Redacted) {
  const database = yield* asOwner(owner, Effect.succeed)
  const urls: Logins = Record.map(roleOf, (role) => {
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
