/**
 * Brings a database to the present shape: the numbered migrations, each once and in order, in one
 * transaction. Several may be started at once; one works, the others wait for it and find nothing
 * to do.
 */
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, type Redacted } from "effect"
import { Migrator, type SqlError } from "effect/sql"
import { operatorSetup } from "../migrations/0001_operator_setup.ts"
import { imports } from "../migrations/0002_imports.ts"
import { accounts } from "../migrations/0003_accounts.ts"
import { limits } from "../migrations/0004_limits.ts"
import { auditChains } from "../migrations/0005_audit_chains.ts"
import { roles } from "../migrations/0006_roles.ts"
import { accountRevisions } from "../migrations/0007_account_revisions.ts"
import { supplierSettings } from "../migrations/0008_supplier_settings.ts"
import { idempotencyKeys } from "../migrations/0009_idempotency_keys.ts"

const loader = Migrator.fromRecord({
  "0001_operator_setup": operatorSetup,
  "0002_imports": imports,
  "0003_accounts": accounts,
  "0004_limits": limits,
  "0005_audit_chains": auditChains,
  "0006_roles": roles,
  "0007_account_revisions": accountRevisions,
  "0008_supplier_settings": supplierSettings,
  "0009_idempotency_keys": idempotencyKeys
})

/** Migrates the database at `url`; gives the names of the migrations that were applied now. */
export const migrate = (
  url: Redacted.Redacted
): Effect.Effect<ReadonlyArray<string>, Migrator.MigrationError | SqlError.SqlError> =>
  Migrator.make({})({ loader, table: "migrations" }).pipe(
    Effect.map((applied) => applied.map(([, name]) => name)),
    Effect.provide(
      PgClient.layer({
        url,
        applicationName: "data-import-migrate",
        maxConnections: 1,
        connectTimeout: Duration.seconds(5)
      })
    )
  )
