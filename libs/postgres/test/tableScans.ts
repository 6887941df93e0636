/** How often tables were read from end to end, as PostgreSQL counts it. */
import { Effect, Schema } from "effect"
import { Database, rowsOf } from "../src/connection/Database.ts"

const scanRows = rowsOf(Schema.Struct({ table: Schema.String, scans: Schema.BigInt }))

/** The scans of each table so far. It needs `layerCountedPorts`. */
export const scansOf = (tables: ReadonlyArray<string>) =>
  Effect.flatMap(Database, ({ run, sql }) =>
    Effect.andThen(
      run(sql`select pg_stat_force_next_flush()`),
      run(
        scanRows(sql`
          select relname as table, seq_scan as scans from pg_stat_user_tables
          where relname = any (${tables}) order by relname`)
      )
    )
  )
