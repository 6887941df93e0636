/** Audit chains as tests need them: with an erased number. */
import { Effect } from "effect"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { Database } from "../src/connection/Database.ts"

/** Erases the number with the operator's rights, and returns how many entries had it. */
export const eraseNumber = Effect.fnUntraced(function* (key: ImportKey) {
  const { run, sql } = yield* Database
  const erased = Effect.gen(function* () {
    yield* sql`set local role data_import_operator`
    const rows = yield* sql<{ entries: bigint }>`
      select erase_audited_number(${key.import_supplier}, ${key.external_account_number})
        as entries`
    return Number(rows[0]?.entries)
  })
  return yield* run(sql.withTransaction(erased))
})
