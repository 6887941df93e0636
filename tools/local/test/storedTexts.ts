/** The texts in the tables of a database, column by column, in any encoding. */
import { Effect } from "effect"
import { gunzipSync } from "node:zlib"
import { rows } from "@data-import/postgres/testing/rows"
import { leaksIn } from "./Canaries.ts"

/** The first bytes of what gzip packs by its one method. */
const gzipMagic = Buffer.from([0x1f, 0x8b, 0x08])

/** A value as JSON has it, with all bytes in it as text, unpacked if they are packed. */
const readable = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== "string" || !/^\\x(?:[0-9a-f]{2})+$/.test(part)) return part
    const bytes = Buffer.from(part.slice(2), "hex")
    // A hash may begin with the first two bytes by chance.
    const isPacked = bytes.length > 32 && bytes.subarray(0, 3).equals(gzipMagic)
    return `${bytes.toString("latin1")} ${bytes.toString("utf8")} ${isPacked ? gunzipSync(bytes).toString() : ""}`
  })

/** The columns that can hold a text, bytes, a date or a decimal, as `table.column`. */
export const textColumns = rows(
  (sql) => sql<{ name: string }>`
    select relname || '.' || attname as name
    from pg_attribute join pg_class on pg_class.oid = attrelid
      join pg_type on pg_type.oid = atttypid
      left join pg_type as element on element.oid = pg_type.typelem
    where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0
      and not attisdropped
      and coalesce(nullif(element.typname, '-'), pg_type.typname)
        in ('text', 'varchar', 'bpchar', 'char', 'name', 'json', 'jsonb', 'xml', 'bytea', 'date',
          'numeric', 'exact_money')
    order by 1`
).pipe(Effect.map((found) => found.map(({ name }) => name)))

/** Where one of the texts is stored: each column, with the surrounding text. */
export const placesOf = Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
  const tables = yield* rows(
    (sql) => sql<{ name: string }>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`
  )
  const places = new Map<string, string>()
  for (const { name } of tables) {
    const held = yield* rows(
      (sql) => sql<{ row: Readonly<Record<string, unknown>> }>`
        select to_jsonb(held) as row from ${sql(name)} as held`
    )
    for (const { row } of held) {
      for (const [column, value] of Object.entries(row)) {
        if (value === null) continue
        const [leak] = leaksIn(readable(value), texts)
        if (leak !== undefined) places.set(`${name}.${column}`, leak)
      }
    }
  }
  return places
})
