/**
 * The migrations: SQL files, in the order of their numbers. A file that was released never changes,
 * since databases that have it would differ from those that are new. So each is recorded with its
 * digest.
 */
import { Data, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

export interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
}

const folder = join(import.meta.dirname, "..", "..", "schema")

export const migrations: ReadonlyArray<Migration> = readdirSync(folder)
  .filter((file) => file.endsWith(".sql"))
  .toSorted()
  .map((file) => ({
    number: Number.parseInt(file, 10),
    name: file.replaceAll(/^\d+_|\.sql$/g, ""),
    text: readFileSync(join(folder, file), "utf8")
  }))

/** The database was migrated by other files than these. */
export class MigrationDiffers extends Data.TaggedError("MigrationDiffers")<{
  readonly number: number
  readonly name: string
}> {
  override get message(): string {
    return (
      `Migration ${this.number} of the database, "${this.name}", is not the one of this release. ` +
      "Nothing was changed. Use the release that made the database, or an empty database."
    )
  }
}

const digestOf = ({ text }: Migration): string => hash("sha256", text)

/** A semicolon ends a statement, except in a function, a literal or a comment, or the file does. */
const statement = /(?:\$\$[^]*?\$\$|--.*|'[^']*'|[^;])+?(?:;|$)/g

/** Runs the statements of a migration, whose record exists already, and records its digest. */
export const apply = (migration: Migration) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const [text] of migration.text.matchAll(statement)) yield* sql.unsafe(text)
    yield* sql`
      update migrations set digest = ${digestOf(migration)}
      where migration_id = ${migration.number}`
  })

/** Refuses a database whose migrations are others. It may have later ones. */
export const refuseOthers = (known: ReadonlyArray<Migration>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [table] = yield* sql<{ exists: boolean }>`
      select to_regclass('public.migrations') is not null as exists`
    if (table?.exists !== true) return
    const applied = yield* sql<{ number: number; name: string; digest: string | null }>`
      select migration_id as number, name, to_json(migrations) ->> 'digest' as digest
      from migrations order by migration_id`
    for (const { digest, name, number } of applied) {
      const own = known.find((migration) => migration.number === number)
      if (own !== undefined && (own.name !== name || digestOf(own) !== digest)) {
        return yield* new MigrationDiffers({ number, name })
      }
    }
  })
