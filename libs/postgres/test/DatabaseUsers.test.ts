/** The users that are made for the services: who can log in, where, and with which role. */
import { PgClient } from "@effect/sql-pg"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Record, Redacted } from "effect"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { promisify } from "node:util"
import { inject } from "vitest"
import * as DatabaseUsers from "../src/schema/DatabaseUsers.ts"
import { migrate } from "../src/schema/migrate.ts"
import { createDatabase, databaseUrl, dropDatabase } from "../testing/databases.ts"
import * as EmbeddedPostgres from "../testing/EmbeddedPostgres.ts"
import { freshUrl } from "../testing/TestDatabase.ts"

const freshName = (prefix: string) => `${prefix}_${randomBytes(6).toString("hex")}`

/** A database on the server until the scope ends. */
const database = Effect.fnUntraced(function* (server: Redacted.Redacted) {
  const name = freshName("users")
  yield* Effect.acquireRelease(createDatabase(server, name), () =>
    Effect.orDie(dropDatabase(server, name))
  )
  return databaseUrl(server, name)
})

const databaseUserUrl = (owner: Redacted.Redacted, user: string, password: string) => {
  const url = new URL(Redacted.value(owner))
  return Redacted.make(Object.assign(url, { username: user, password }).href)
}

const ask = <Row extends object>(url: Redacted.Redacted, statement: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return yield* sql.unsafe<Row>(statement)
  }).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1 })))

/** Whether the user can log in, or why not. */
const entry = (url: Redacted.Redacted) =>
  ask<{ user: string }>(url, "select current_user as user").pipe(
    Effect.map(([row]) => row?.user),
    Effect.catch(({ reason }) =>
      Effect.succeed((reason.cause as { readonly code?: unknown }).code ?? reason._tag)
    )
  )

/** Drops users of these names when the scope ends. */
const cleared = (owner: Redacted.Redacted, ...users: ReadonlyArray<string>) =>
  Effect.addFinalizer(() =>
    Effect.forEach(users, (user) =>
      Effect.orDie(
        ask(owner, `drop owned by ${user}`).pipe(
          Effect.andThen(ask(owner, `drop role ${user}`)),
          Effect.catchIf(
            ({ reason }) => (reason.cause as { readonly code?: unknown }).code === "42704",
            () => Effect.void
          )
        )
      )
    )
  )

const passwords = ["hunter 2'\"\\$ %L %I", "0123456789abcdef", "a%40b:c/d?e#f", "~".repeat(200)]

describe("a service's database user", () => {
  it.live.each(passwords)("logs in only with its password: %s", (password) =>
    Effect.gen(function* () {
      const owner = yield* freshUrl
      const user = freshName("query")
      yield* cleared(owner, user)
      const url = databaseUserUrl(owner, user, encodeURIComponent(password))
      yield* DatabaseUsers.ensure(owner, { query: url })
      expect(yield* entry(url)).toBe(user)
      expect(yield* entry(databaseUserUrl(owner, user, `${encodeURIComponent(password)}x`))).toBe(
        "28P01"
      )
    }).pipe(Effect.scoped)
  )

  it.live("gets a new password on the next run, and no second role", () =>
    Effect.gen(function* () {
      const owner = yield* freshUrl
      const user = freshName("query")
      yield* cleared(owner, user)
      const [first, second] = [
        databaseUserUrl(owner, user, "first"),
        databaseUserUrl(owner, user, "second")
      ]
      yield* DatabaseUsers.ensure(owner, { query: first })
      yield* DatabaseUsers.ensure(owner, { query: second })
      expect([yield* entry(first), yield* entry(second)]).toStrictEqual(["28P01", user])
      const roles = yield* ask(
        owner,
        `select roleid::regrole::text as role from pg_auth_members
          where member = '${user}'::regrole`
      )
      expect(roles).toStrictEqual([{ role: "data_import_query" }])
    }).pipe(Effect.scoped)
  )

  it.live("has only a password verifier stored on the server", () =>
    Effect.gen(function* () {
      const owner = yield* freshUrl
      const user = freshName("query")
      yield* cleared(owner, user)
      // The server would store what it is given here unchanged, or reject it.
      yield* DatabaseUsers.ensure(owner, { query: databaseUserUrl(owner, user, "first") })
      const [kept] = yield* ask<{ secret: string }>(
        owner,
        `select rolpassword as secret from pg_authid where rolname = '${user}'`
      )
      expect(kept?.secret).toMatch(/^SCRAM-SHA-256\$4096:[^$]{24}\$[^:]{44}:.{44}$/)
    }).pipe(Effect.scoped)
  )

  it.live("can connect to its own database only", () =>
    Effect.gen(function* () {
      const owner = yield* freshUrl
      const other = yield* database(Redacted.make(inject("databaseUrl")))
      // A migration grants the right to connect, and a copy of the template does not inherit it.
      yield* migrate(other)
      const { query } = yield* DatabaseUsers.temporary(owner)
      const { password, username } = new URL(Redacted.value(query))
      expect(yield* entry(query)).toBe(username)
      expect(yield* entry(databaseUserUrl(other, username, password))).toBe("42501")
    }).pipe(Effect.scoped)
  )
})

type Unfit = readonly [
  why: string,
  databaseUsers: (owner: Redacted.Redacted, user: string) => Partial<DatabaseUsers.DatabaseUsers>
]

const unfit: ReadonlyArray<Unfit> = [
  ["is no URL", () => ({ query: Redacted.make("secret-word") })],
  ["has no user", (owner) => ({ query: databaseUserUrl(owner, "", "secret-word") })],
  ["has no user", (owner) => ({ query: databaseUserUrl(owner, "q".repeat(64), "secret-word") })],
  ["has no password", (owner, user) => ({ query: databaseUserUrl(owner, user, "") })],
  [
    "has no password",
    (owner, user) => ({ query: databaseUserUrl(owner, user, "s%C3%A9cret-word") })
  ],
  ["has more rights than its role", (owner) => ({ query: owner })],
  [
    "is also used by another service",
    (owner, user) => ({
      auth: databaseUserUrl(owner, user, "secret-word"),
      query: databaseUserUrl(owner, user, "secret-word")
    })
  ]
]

it.live.each(unfit)("no user is created if one %s", ([why, databaseUsers]) =>
  Effect.gen(function* () {
    const owner = yield* freshUrl
    const user = freshName("unfit")
    const valid = freshName("valid")
    yield* cleared(owner, user, valid)
    const accompanied = {
      operator: databaseUserUrl(owner, valid, "first"),
      ...databaseUsers(owner, user)
    }
    const refused = yield* Effect.flip(DatabaseUsers.ensure(owner, accompanied))
    expect(refused).toBeInstanceOf(DatabaseUsers.UnusableDatabaseUser)
    expect(refused.message).toContain(why)
    expect(refused.message).not.toContain("secret-word")
    const made = `select rolname from pg_roles where rolname in ('${user}', '${valid}')`
    expect(yield* ask(owner, made)).toStrictEqual([])
  }).pipe(Effect.scoped)
)

it.live("the migration job creates the configured users and logs no password", () =>
  Effect.gen(function* () {
    const owner = yield* database(Redacted.make(inject("databaseUrl")))
    const user = freshName("post_import")
    yield* cleared(owner, user)
    const url = databaseUserUrl(owner, user, "secret-word")
    const job = () =>
      promisify(execFile)(process.execPath, [join(import.meta.dirname, "..", "src", "main.ts")], {
        env: {
          DATABASE_URL: Redacted.value(owner),
          POST_IMPORT_DATABASE_URL: Redacted.value(url)
        }
      })
    const first = yield* Effect.promise(job)
    expect(first.stdout).toContain("Migrated: roles, suppliers")
    expect(yield* entry(url)).toBe(user)
    const second = yield* Effect.promise(job)
    expect(second.stdout).toContain("Nothing to migrate")
    expect(yield* entry(url)).toBe(user)
    expect(JSON.stringify([first, second])).not.toContain("secret-word")
  }).pipe(Effect.scoped)
)

describe("a server of its own", () => {
  it.live("allows concurrent migrations of several databases that share the roles", () =>
    Effect.gen(function* () {
      const { url } = yield* EmbeddedPostgres.temporary
      const urls = yield* Effect.all(Array.from({ length: 4 }, () => database(url)))
      const applied = yield* Effect.all(
        urls.map((url) => migrate(url)),
        { concurrency: "unbounded" }
      )
      for (const names of applied) expect(names).toContain("roles")
      const roles = yield* ask<{ rolname: string }>(
        url,
        `select rolname from pg_roles where rolname like 'data_import_%' order by rolname`
      )
      expect(roles.map(({ rolname }) => rolname)).toStrictEqual(
        Object.values(DatabaseUsers.roleOf).toSorted()
      )
    }).pipe(Effect.scoped)
  )

  it.live("can be migrated by an owner that is not a superuser, which creates the users", () =>
    Effect.gen(function* () {
      const { url } = yield* EmbeddedPostgres.temporary
      yield* ask(url, "create role managed login createrole password 'managed'")
      yield* ask(url, "create database managed owner managed")
      const owner = databaseUserUrl(databaseUrl(url, "managed"), "managed", "managed")
      expect(yield* migrate(owner)).toContain("roles")
      const databaseUsers = yield* DatabaseUsers.temporary(owner)
      const users = yield* Effect.all(Record.map(databaseUsers, entry))
      expect(users).toStrictEqual(Record.map(DatabaseUsers.roleOf, (role) => `${role}_managed`))
    }).pipe(Effect.scoped)
  )
})
