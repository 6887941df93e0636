/**
 * Lets the operator read the addresses, billing options and metadata of an account.
 *
 * Can be undone: yes, by revoking the grants.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const accountFieldGrants = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select on account_metadata, billing_addresses, billing_options, supply_addresses
    to data_import_operator`
})
