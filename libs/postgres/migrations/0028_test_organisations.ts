/**
 * Test organisations, each of one live organisation. The codes of their suppliers are stored with a
 * blank before them, so that the same code can exist in both modes. An earlier release never finds
 * such a supplier, because it trims what clients send.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const testOrganisations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table organisations
      add column test_of text collate "C"
        constraint organisations_test_of_exists references organisations
        constraint organisations_test_of_once unique
        constraint organisations_test_of_another check (test_of <> name)`
  yield* sql`
    alter table suppliers
      drop constraint suppliers_code_length,
      add constraint suppliers_code_length
        check (char_length(code) between 1 and 32 + starts_with(code, ' ')::integer)`
})
